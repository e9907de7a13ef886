// Registers that warps of a block lend each other. A block starts with as many as ptxas may give its threads where it
// has the multiprocessor to itself; there are no others.
#include <algorithm>

#include "support/cuda_machine/block.h"

namespace convgrad::cuda {
namespace {

constexpr unsigned kRegisters = 65536;  // of a multiprocessor
constexpr unsigned kMostOfThread = 255;
constexpr unsigned kUnit = 8;  // registers of a thread come in eights

}  // namespace

unsigned Block::registers_at_start() const {
  return std::min(kRegisters / grid_->threads, kMostOfThread) / kUnit * kUnit;
}

void Block::give_registers(unsigned registers) {
  meet(warp().meeting, kWarp, "give_registers", registers, [this, registers](const Meeting&) {
    Warp& mine = warp();
    if (registers > mine.registers)
      fail(sentence("give_registers<", registers, "> of a warp that has ", mine.registers));
    free_registers_ += (mine.registers - registers) * kWarp;
    mine.registers = registers;
    wake(want_registers_);
  });
}

void Block::take_registers(unsigned registers) {
  meet(warp().meeting, kWarp, "take_registers", registers, [this, registers](const Meeting&) {
    Warp& mine = warp();
    if (registers < mine.registers)
      fail(sentence("take_registers<", registers, "> of a warp that has ", mine.registers));
    const unsigned more = (registers - mine.registers) * kWarp;
    while (free_registers_ < more) sleep(want_registers_, "take_registers");
    free_registers_ -= more;
    mine.registers = registers;
  });
}

// All four warps of a warpgroup must have asked for the same.
std::string Block::unequal_registers() const {
  for (unsigned i = 0; i < grid_->threads / kWarp; ++i) {
    const Warp& first = warps_[i / 4 * 4];
    if (warps_[i].registers != first.registers)
      return sentence("ended with ", first.registers, " and ", warps_[i].registers,
                      " registers in warps of one warpgroup");
  }
  return "";
}

namespace host {

void take_registers(unsigned registers) { block().take_registers(registers); }
void give_registers(unsigned registers) { block().give_registers(registers); }

}  // namespace host
}  // namespace convgrad::cuda
