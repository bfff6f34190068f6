#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/doctor_findings.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MachineFacts good_machine() {
  MachineFacts machine;
  machine.cores = 16;
  machine.memory_bytes = machine.available_bytes = 128'000'000'000;
  machine.open_files = 1024;
  return machine;
}

GpuSupport cuda_build() {
  GpuSupport support;
  support.cuda = true;
  support.architectures = {90};
  return support;
}

GpuMachine machine_with(int major, int minor, std::optional<int64_t> engines) {
  GpuMachine machine;
  machine.device_file = true;
  machine.gpus = {{"H200", major, minor, 140'000'000'000, engines}};
  return machine;
}

TEST(DoctorFindings, AGoodMachineHasNone) {
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), machine_with(9, 0, 7)), IsEmpty());
  EXPECT_THAT(doctor_findings({}, good_machine(), {}), IsEmpty());
}

TEST(DoctorFindings, ACpuBuildBesideAGpuNamesThePreset) {
  GpuMachine machine;
  machine.device_file = true;
  EXPECT_THAT(doctor_findings({}, good_machine(), machine), ElementsAre(HasSubstr("preset 'cuda'")));
}

TEST(DoctorFindings, ACudaBuildWithoutGpuNamesThePreset) {
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), {}), ElementsAre(HasSubstr("preset 'cpu'")));
}

TEST(DoctorFindings, AGpuThatCudaCannotUseSaysWhy) {
  GpuMachine machine;
  machine.device_file = true;
  machine.problem = "driver too old";
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), machine),
              ElementsAre(HasSubstr("driver too old")));
}

TEST(DoctorFindings, AGpuWithoutCodeNamesTheSetting) {
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), machine_with(8, 6, 1)),
              ElementsAre(HasSubstr("SLIPSTREAM_CUDA_ARCHITECTURE=8.6")));
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), machine_with(10, 0, 1)),
              ElementsAre(HasSubstr("SLIPSTREAM_CUDA_ARCHITECTURE=10.0")));
}

TEST(DoctorFindings, AGpuWithoutEnginesIsNamed) {
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), machine_with(9, 0, 0)),
              ElementsAre(HasSubstr("no JPEG engines")));
  EXPECT_THAT(doctor_findings(cuda_build(), good_machine(), machine_with(9, 0, std::nullopt)), IsEmpty());
}

TEST(DoctorFindings, SmallLimitsAreNamed) {
  MachineFacts machine = good_machine();
  machine.cores = 2;
  machine.open_files = 256;
  machine.available_bytes = 1'000'000'000;
  EXPECT_THAT(doctor_findings({}, machine, {}),
              ElementsAre(HasSubstr("Only 256 files"), HasSubstr("Only 1 GB of memory"),
                          HasSubstr("There are 2 cores to decode on: expect at most about 1,000")));
}

TEST(DoctorMachine, KnowsThisOne) {
  const MachineFacts machine = machine_facts();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_GT(machine.available_bytes, 0);
  EXPECT_LE(machine.available_bytes, machine.memory_bytes);
}

TEST(DoctorMachine, CountsFilesThatAContainerKeepsInMemoryAsFree) {
  const test::TemporaryFolder container;
  test::write_text(container.path() / "memory.max", "1000000\n");
  test::write_text(container.path() / "memory.current", "900000\n");
  EXPECT_EQ(machine_facts(container.path().string()).memory_bytes, 1'000'000);
  EXPECT_EQ(machine_facts(container.path().string()).available_bytes, 100'000);
  test::write_text(container.path() / "memory.stat",
                   "anon 300000\nfile 600000\ninactive_file 400000\nactive_file 150000\nslab 5\n");
  EXPECT_EQ(machine_facts(container.path().string()).available_bytes, 650'000);
}

TEST(DoctorMachine, RespectsAContainersCores) {
  const test::TemporaryFolder container;
  test::write_text(container.path() / "cpu.max", "100000 100000\n");
  EXPECT_EQ(machine_facts(container.path().string()).cores, 1);
}

}  // namespace
}  // namespace slipstream
