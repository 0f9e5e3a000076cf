#include "tests/reference/reference_cases.h"

#include <cctype>

namespace pyrometer::testing {

std::vector<std::string> ReferenceCase::files() const {
  std::vector<std::string> names;
  if (traces.empty()) names.push_back(std::string(name) + ".trace.json.gz");
  for (const std::string_view trace : traces)
    names.push_back(std::string(trace) + ".trace.json.gz");
  return names;
}

std::string ReferenceCase::test_name() const {
  std::string result;
  for (const char c : name) {
    result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return result;
}

std::vector<ReferenceCase> reference_cases() {
  constexpr std::string_view kOurs = "h200";
  constexpr std::string_view kPublic = "public";
  // Names of DLRM's files: the rank is the worker, the rest is when each was written.
  const std::vector<std::string_view> dlrm = {
      "param__dlrm_kineto__worker0_step_12.1694128201545.pt.trace",
      "param__dlrm_kineto__worker1_step_12.1694128201556.pt.trace",
      "param__dlrm_kineto__worker2_step_12.1694128201554.pt.trace",
      "param__dlrm_kineto__worker3_step_12.1694128201557.pt.trace",
      "param__dlrm_kineto__worker4_step_12.1694128201547.pt.trace",
      "param__dlrm_kineto__worker5_step_12.1694128201549.pt.trace",
      "param__dlrm_kineto__worker6_step_12.1694128201553.pt.trace",
      "param__dlrm_kineto__worker7_step_12.1694128201553.pt.trace"};
  std::vector<ReferenceCase> cases;
  for (const std::string_view name :
       {"ckpt_sync", "ddp_healthy.rank0", "ddp_healthy.rank1", "ddp_imbalance.rank0",
        "ddp_imbalance.rank1", "fp32_no_tf32", "h2d_pageable", "healthy", "launch_bound_mlp",
        "loader_serial"}) {
    cases.push_back({.folder = kOurs, .name = name});
  }
  cases.push_back({.folder = kOurs,
                   .name = "ddp_healthy.both_ranks",
                   .traces = {"ddp_healthy.rank0", "ddp_healthy.rank1"}});
  cases.push_back({.folder = kOurs,
                   .name = "ddp_imbalance.both_ranks",
                   .traces = {"ddp_imbalance.rank0", "ddp_imbalance.rank1"}});
  for (const std::string_view name :
       {"hta__amd_trace__mi250_minitoy_train_ROCm6_2_kineto",
        "hta__critical_path__alexnet__benchmark_result_2869224_1695835535_trace",
        "hta__df_index_resolver__df_index_resolver", "hta__nccl_parser_config__nccl_data",
        "hta__trace_filter__sampled_rank-0", "hta__trace_filter__sampled_rank-1",
        "hta__with_gpu_user_annotation__step_based_trace_2543932",
        "kineto__tb_plugin__samples__resnet50_num_workers_0__worker0.pt.trace__d3fb407",
        "param__resnet_kineto", "tracelens__h100__gaunernst_bert-small-uncased__1016001",
        "tracelens__inference__vllm_decode_full__graph_execution",
        "tracelens__mi300__resnet_act_checkpoint"}) {
    cases.push_back({.folder = kPublic, .name = name});
  }
  cases.push_back(
      {.folder = kPublic,
       .name = "hta__trace_filter__sampled_both_ranks",
       .traces = {"hta__trace_filter__sampled_rank-0", "hta__trace_filter__sampled_rank-1"}});
  cases.push_back({.folder = kPublic,
                   .name = "hta__cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace",
                   .traces = {"hta__cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace"}});
  cases.push_back(
      {.folder = kPublic, .name = "hta__distributed_info_unavailable__distributed_info_not_found"});
  cases.push_back({.folder = kPublic,
                   .name = "hta__ns_resolution_trace__rank-0.Apr_03_18_51_38.1102.pt.trace",
                   .options = {.grain = 250}});
  cases.push_back({.folder = kPublic,
                   .name = "hta__triton_example__triton_example",
                   .options = {.operators_with_stream = "triton_"}});
  cases.push_back({.folder = kPublic,
                   .name = "tracelens__torch_compile_triton__trace",
                   .options = {.operators_with_stream = "triton_"}});
  for (const std::string_view worker : dlrm) {
    cases.push_back({.folder = kPublic, .name = worker, .kernels_before_the_trace = true});
  }
  cases.push_back({.folder = kPublic,
                   .name = "param__dlrm_kineto__all_8_ranks",
                   .traces = dlrm,
                   .kernels_before_the_trace = true});
  return cases;
}

}  // namespace pyrometer::testing
