// The reading and writing of run configs, compiled once: each takes seconds. Apart from
// run_config.cpp, so that the fuzz targets need no task.
#include "trainers/run_config.h"

namespace ralimp {

template RunConfig config_detail::read_layers<RunConfig>(const std::vector<ConfigNode>& layers,
                                                         std::span<const std::string> overrides);
template std::string write_config<RunConfig>(const RunConfig& config, ConfigComments comments);

}  // namespace ralimp
