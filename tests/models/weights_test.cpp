#include "models/weights.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/error.h"
#include "models/pickle_file.h"
#include "models/resnet.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

void expect_equal(const StateDict& found, const StateDict& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].first, expected[i].first);
    EXPECT_EQ(found[i].second.scalar_type(), expected[i].second.scalar_type()) << found[i].first;
    EXPECT_TRUE(at::equal(found[i].second, expected[i].second)) << found[i].first;
  }
}

at::Tensor find(const StateDict& state, const std::string& name) {
  for (const auto& [key, tensor] : state) {
    if (key == name) return tensor;
  }
  throw std::out_of_range(name);
}

StateDict copy(const StateDict& state) {
  StateDict copies;
  for (const auto& [name, tensor] : state) copies.emplace_back(name, tensor.clone());
  return copies;
}

void remove_key(StateDict& state, const std::string& name) {
  std::erase_if(state, [&](const auto& item) { return item.first == name; });
}

TEST(StateDictTest, SharesTheModulesMemory) {
  const ResNet model("resnet18", 10, 1);
  const StateDict state = model.state_dict();
  ASSERT_EQ(state.size(), 122);
  EXPECT_EQ(state[0].second.data_ptr(), model.parameters()[0].second.data_ptr());
  EXPECT_FALSE(state[0].second.requires_grad());
}

TEST(StateDictTest, LoadsInPlaceAndKeepsTheLayout) {
  const StateDict weights = ResNet("resnet18", 10, 2).state_dict();
  ResNet model("resnet18", 10, 1);
  model.to_channels_last();
  const at::Tensor held = find(model.parameters(), "layer1.0.conv1.weight");
  load_state_dict(model, weights);
  expect_equal(model.state_dict(), weights);
  EXPECT_TRUE(at::equal(held, find(model.parameters(), "layer1.0.conv1.weight")));
  EXPECT_TRUE(held.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(held.requires_grad());
}

TEST(StateDictTest, NamesMissingUnknownAndReshapedKeysAndCopiesNothing) {
  ResNet model("resnet18", 10, 1);
  const StateDict before = copy(model.state_dict());
  StateDict weights = copy(ResNet("resnet18", 10, 2).state_dict());
  remove_key(weights, "bn1.bias");
  weights.emplace_back("extra.weight", at::zeros({1}));
  weights.front().second = at::zeros({64, 3, 3, 3});
  EXPECT_THAT(
      [&] { load_state_dict(model, weights); },
      ThrowsMessage<Error>(AllOf(HasSubstr("1 missing (bn1.bias)"), HasSubstr("1 unknown (extra.weight)"),
                                 HasSubstr("1 of another shape (conv1.weight: [64, 3, 3, 3] for "
                                           "[64, 3, 7, 7])"))));
  expect_equal(model.state_dict(), before);
}

TEST(StateDictTest, ShowsTheFirstOfManyKeysAndTheirCount) {
  EXPECT_THAT(
      [] {
        ResNet model("resnet18", 10, 1);
        load_state_dict(model, {{"a", at::zeros({1})}});
      },
      ThrowsMessage<Error>(HasSubstr("102 missing (conv1.weight, bn1.weight, bn1.bias, ...)")));
}

TEST(StateDictTest, SaysSoWhenOnlyTheClassesDiffer) {
  const StateDict weights = ResNet("resnet18", 1000, 1).state_dict();
  ResNet small("resnet18", 10, 1);
  EXPECT_THAT([&] { load_state_dict(small, weights); },
              ThrowsMessage<Error>(HasSubstr("for 1000 classes and the model has 10; otherwise they fit")));
  // Another architecture also has another classifier: that isn't the message to give.
  ResNet large("resnet50", 10, 1);
  EXPECT_THAT([&] { load_state_dict(large, weights); },
              ThrowsMessage<Error>(AllOf(HasSubstr("missing"), Not(HasSubstr("otherwise they fit")))));
}

TEST(StateDictTest, SetsCountersThatOldFilesLackToZero) {
  ResNet model("resnet18", 10, 1);
  model.forward(at::rand({2, 3, 32, 32}), ResNet::Phase::kTraining);
  StateDict weights = copy(model.state_dict());
  std::erase_if(weights, [](const auto& item) { return item.first.ends_with("num_batches_tracked"); });
  ASSERT_EQ(weights.size(), 102);
  ASSERT_EQ(find(model.state_dict(), "bn1.num_batches_tracked").item<int64_t>(), 1);
  load_state_dict(model, weights);
  EXPECT_EQ(find(model.state_dict(), "bn1.num_batches_tracked").item<int64_t>(), 0);
}

class WeightFileTest : public testing::Test {
 protected:
  std::string path(const char* name = "weights.pt") const { return (folder_.path() / name).string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(WeightFileTest, ComesBackAsItWas) {
  ResNet model("resnet18", 10, 1);
  model.to_channels_last();
  save_weights(path(), model);
  const StateDict loaded = load_weights(path());
  expect_equal(loaded, model.state_dict());
  for (const auto& [name, tensor] : loaded) EXPECT_TRUE(tensor.is_contiguous()) << name;
}

TEST_F(WeightFileTest, HoldsNoMoreOfAViewThanItShows) {
  const at::Tensor large = at::rand({1000, 1000});
  EXPECT_LT(serialise(to_dict({{"part", large[0]}})).size(), 20'000);
}

TEST_F(WeightFileTest, MayLieInsideAnotherDict) {
  const StateDict weights = {{"a", at::rand({2, 3})}, {"b", at::tensor(4)}};
  for (const char* key : {"state_dict", "model"}) {
    c10::impl::GenericDict outer(c10::StringType::get(), c10::AnyType::get());
    outer.insert("epoch", 3);
    outer.insert(key, to_dict(weights));
    const std::vector<char> bytes = serialise(outer);
    test::write_text(path(), std::string(bytes.begin(), bytes.end()));
    expect_equal(load_weights(path()), weights);
  }
}

TEST_F(WeightFileTest, IsNamedWhenAbsent) {
  EXPECT_THAT([&] { load_weights(path("none.pt")); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path("none.pt")), HasSubstr("torch.save("))));
}

TEST_F(WeightFileTest, IsNamedWhenDamaged) {
  save_weights(path(), ResNet("resnet18", 10, 1));
  const std::string whole = test::read_text(path());
  const std::string half = whole.substr(0, whole.size() / 2);
  for (const std::string& text : {half, std::string(), std::string("not weights")}) {
    test::write_text(path("damaged.pt"), text);
    EXPECT_THAT([&] { load_weights(path("damaged.pt")); },
                ThrowsMessage<Error>(
                    AllOf(HasSubstr(path("damaged.pt")), HasSubstr("torch.save("), Not(HasSubstr("\n")))))
        << text.size() << " bytes";
  }
}

TEST_F(WeightFileTest, NeverBreaksTheReader) {
  const std::vector<char> bytes = serialise(to_dict({{"a", at::rand({2, 3})}, {"b", at::tensor(4)}}));
  const std::string whole(bytes.begin(), bytes.end());
  int rejected = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x11);
    test::write_text(path(), damaged);
    try {
      load_weights(path());  // a byte of padding or of a value may well be another
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path()));
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 100);
}

TEST_F(WeightFileTest, IsNamedWhenItHoldsSomethingElse) {
  for (const c10::IValue& value :
       {c10::IValue(7), c10::IValue(at::rand({2})), c10::IValue(c10::Dict<std::string, int64_t>()),
        c10::IValue(c10::Dict<std::string, at::Tensor>())}) {
    const std::vector<char> bytes = serialise(value);
    test::write_text(path(), std::string(bytes.begin(), bytes.end()));
    EXPECT_THAT([&] { load_weights(path()); },
                ThrowsMessage<Error>(AllOf(HasSubstr(path()), HasSubstr("no dict of names and tensors"))));
  }
}

}  // namespace
}  // namespace slipstream
