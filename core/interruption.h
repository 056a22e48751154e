// Where long work of every library asks whether it may go on. What may stop it, a signal, is not
// known here: whoever knows installs the answer.
#pragma once

namespace ralimp {

// Throws to end the work under way.
using InterruptionCheck = void (*)();

// Null: nothing interrupts, as at the start of the program.
void install_interruption_check(InterruptionCheck check);

// Calls what is installed. For work of more than a second, every tenth of one or so and outside of
// parallel loops; costs a few nanoseconds.
void throw_if_interrupted();

}  // namespace ralimp
