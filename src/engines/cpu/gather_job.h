// What the units of one gather share: tensors, packed filter, workspace.
#pragma once

#include "engines/cpu/carve.h"
#include "engines/cpu/gather_classes.h"
#include "engines/cpu/runs.h"
#include "engines/engine.h"
#include "engines/spread.h"

namespace convgrad::cpu {

// Positions that are summed before the next: their sums (16 KB in f32) stay in the first cache.
constexpr std::int64_t kStripRows = 64;
constexpr std::int64_t kStreamedBytes = std::int64_t{16} << 20;  // larger results are written past the caches

// Memory of one worker.
template <class T>
struct GatherBench {
  T *source_planes, *result_planes, *source, *spread_source, *result;
  BlockSums<T> sums;
  std::int32_t* index;
  Run* runs;

  GatherBench(Carver& carve, const GatherProgram& p) {
    const std::int64_t sources = most(p, &Part::sources), results = most(p, &Part::channels);
    source_planes = carve.take<T>(p.planar ? sources * plane_pitch(volume(p.source_most)) : 0);
    result_planes = carve.take<T>(p.planar && converts(p.result) ? results * plane_pitch(volume(p.region)) : 0);
    const std::int64_t positions = volume(staged_region(p)), box = volume(staged_source(p));
    const std::int64_t channels = round_up(results, kAlign), taps = p.layer.taps;
    source = carve.take<T>(direct(p.source) ? 0 : box * sources);
    spread_source = carve.take<T>(spreads_channels(p) ? p.k * box * channels : 0);
    index = carve.take<std::int32_t>(spreads_channels(p) ? channels : 0);
    result = carve.take<T>(direct(p.result) ? 0 : positions * channels);
    const std::int64_t strip = p.form == GatherForm::dot ? 0 : kStripRows * p.lanes * p.widest;
    const std::int64_t folded_rows = p.form == GatherForm::dense ? std::max(positions, kStripRows) : kStripRows;
    const std::int64_t folded = p.several_blocks ? folded_rows * p.lanes * p.widest : 0;
    sums = {carve.take<T>(strip), carve.take<T>(folded), carve.take<T>(folded)};
    runs = carve.take<Run>(RunList::most(p.form == GatherForm::lanewise ? taps * p.k : taps, taps * p.k));
  }
};

template <class T>
struct GatherJob {
  const GatherProgram& p;
  const Kernels& kernels;
  const KernelSet<T>& set;
  const void* filter;
  const void* source;
  void* result;
  DType dtype;
  Carver carve;
  T* panel;
  bool streams;  // the result is written past the caches

  GatherJob(const GatherProgram& program, const Kernels& all, const EngineArgs& args, DType type)
      : p(program),
        kernels(all),
        set(all.of<T>()),
        filter(program.backward ? args.first : args.second),
        source(program.backward ? args.second : args.first),
        result(args.result),
        dtype(type),
        carve(args.workspace),
        panel(carve.take<T>(program.panel)),
        streams(large_result(program) && reinterpret_cast<std::uintptr_t>(result) % 64 == 0) {}

  // Of whole vectors. Fetching it into the caches first would be a third of the traffic of a depthwise layer.
  static bool large_result(const GatherProgram& p) {
    const auto bytes = static_cast<std::int64_t>(sizeof(T)), row = all_results(p) * bytes;
    const std::int64_t aligned = p.form == GatherForm::dense ? p.n * bytes : row;
    return direct(p.result) && aligned % 64 == 0 && volume(p.results()) * row >= kStreamedBytes;
  }
};

// A lane block of the packed filter: rows are the steps of all taps.
template <class T>
T* panel_of(const GatherJob<T>& job, std::int64_t group, std::int64_t lane) {
  const GatherProgram& p = job.p;
  return job.panel + (group * round_up(p.n * p.terms, p.lanes) + lane) * p.layer.taps * tap_steps(p);
}

// One tap of one group: rows are source channels, columns result channels.
template <class T>
void pack_tap(void* context, std::int64_t index, int) {
  const GatherJob<T>& job = *static_cast<GatherJob<T>*>(context);
  const GatherProgram& p = job.p;
  const Layer& l = p.layer;
  const std::int64_t tap = index % l.taps, group = index / l.taps, row = panel_tap(p, tap) * p.k;
  const auto bytes = static_cast<std::int64_t>(size_of(job.dtype));
  const auto [first, from_k, from_n] = tap_matrix(p, tap, group);
  const char* from = static_cast<const char*>(job.filter) + first * bytes;
  const CopyFn copy = job.kernels.copy.in[static_cast<int>(job.dtype)];
  if (p.form == GatherForm::dot) {
    T* to = job.panel + group * l.taps * p.k * p.n + row;
    copy({from, from_n, from_k, to, l.taps * p.k, 1, p.n, p.k});
    return;
  }
  const LaneBlocks blocks = lane_blocks(p);
  for (std::int64_t b = 0; b < blocks.count; ++b) {
    const std::int64_t lane = blocks.begin(b), width = blocks.padded(b);
    T* to = panel_of(job, group, lane) + row / p.terms * width;
    for (std::int64_t e = 0; e < p.terms; ++e)
      copy({from + (lane / p.terms * from_n + e * from_k) * bytes, p.terms * from_k, from_n, to + e, width, p.terms,
            tap_steps(p), blocks.width(b) / p.terms});
  }
}

// Lanewise: row (tap, e), lane = result channel.
template <class T>
void pack_lanes(void* context, std::int64_t tap, int) {
  const GatherJob<T>& job = *static_cast<GatherJob<T>*>(context);
  const GatherProgram& p = job.p;
  const Layer& l = p.layer;
  const auto bytes = static_cast<std::int64_t>(size_of(job.dtype));
  const char* from = static_cast<const char*>(job.filter) + tap * l.c_in * l.all_out() * bytes;
  const CopyFn copy = job.kernels.copy.in[static_cast<int>(job.dtype)];
  for (std::int64_t e = 0; e < p.k; ++e) {
    T* to = job.panel + (tap * p.k + e) * all_results(p);
    if (p.backward) {
      copy({from + e * bytes, l.c_out, l.all_out(), to, l.c_in, 1, l.groups, l.c_in});
    } else {
      copy({from + e * l.all_out() * bytes, l.all_out(), 1, to, l.all_out(), 1, 1, l.all_out()});
    }
  }
}

template <class T>
Status pack_filter(GatherJob<T>& job, const Policy& policy) {
  const GatherProgram& p = job.p;
  if (p.panel == 0) return {};
  const bool lanewise = p.form == GatherForm::lanewise;
  const std::int64_t units = lanewise ? p.layer.taps : p.layer.taps * p.layer.groups;
  return spread(policy, {units, static_cast<int>(p.workers), lanewise ? pack_lanes<T> : pack_tap<T>, &job});
}

}  // namespace convgrad::cpu
