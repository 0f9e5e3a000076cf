#include "readout/depth.h"

namespace pyrometer::readout {

Depth depth_for(MetricId metric) {
  if (metric >= MetricId::kGpuGraphicsActive && metric <= MetricId::kGpuFp16Active) {
    return Depth::kTwice;
  }
  if (metric >= MetricId::kGpuEccVolatileCorrected && metric <= MetricId::kGpuXid) {
    return Depth::kFull;
  }
  switch (metric) {
    case MetricId::kGpuPcieTx:
    case MetricId::kGpuPcieRx:
    case MetricId::kGpuNvlinkTx:
    case MetricId::kGpuNvlinkRx:
    case MetricId::kGpuXgmiTx:
    case MetricId::kGpuXgmiRx:
      return Depth::kTwice;
    case MetricId::kGpuNvmlVersion:
    case MetricId::kGpuComputeCapability:
    case MetricId::kGpuCores:
    case MetricId::kGpuNumaNode:
    case MetricId::kGpuPersistence:
    case MetricId::kGpuEccEnabled:
    case MetricId::kGpuPowerLimitDefault:
    case MetricId::kGpuPowerLimitMax:
    case MetricId::kGpuClockSmMax:
    case MetricId::kGpuClockMemoryMax:
    case MetricId::kGpuPcieGenerationMax:
    case MetricId::kGpuPcieWidthMax:
    case MetricId::kGpuUtilEncoder:
    case MetricId::kGpuUtilDecoder:
    case MetricId::kGpuClockVideo:
    case MetricId::kGpuPowerAverage:
    case MetricId::kGpuEnergy:
    case MetricId::kGpuTemperatureMemory:
    case MetricId::kGpuViolationPower:
    case MetricId::kGpuViolationThermal:
    case MetricId::kGpuPcieGeneration:
    case MetricId::kGpuPcieWidth:
    case MetricId::kGpuPcieReplays:
    case MetricId::kGpuNvlinkActive:
    case MetricId::kGpuNvlinkDown:
      return Depth::kFull;
    default:
      return Depth::kBrief;
  }
}

}  // namespace pyrometer::readout
