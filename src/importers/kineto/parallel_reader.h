// Reads one trace with several threads: chunks of the list of events are parsed ahead of their
// turn.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "importers/kineto/block_reader.h"
#include "importers/kineto/chunk_parser.h"
#include "importers/kineto/trace_reader.h"

namespace pyrometer::importers::kineto {

// Feeds a TraceReader. While that stands inside a list of events, the text is cut where events seem
// to end, the pieces are parsed by all threads, and their rows are handed over in order. Whether a
// cut was right shows when the piece before it has been parsed exactly to its end; from a piece
// that was not, on, the text is fed to the reader as usual. So the result is that of the serial
// path, whatever the text. The calling thread parses too.
class ParallelReader {
 public:
  ParallelReader(TraceReader& reader, unsigned threads);
  ParallelReader(const ParallelReader&) = delete;
  ParallelReader& operator=(const ParallelReader&) = delete;
  ~ParallelReader();

  // Takes the next block of text. Blocks that are used up go back to `blocks`.
  void feed(Block block, BlockReader& blocks);
  // Everything fed so far has reached the reader after this.
  void finish(BlockReader& blocks);

 private:
  struct Job {
    Block block;
    char* text = nullptr;
    std::size_t size = 0;
    std::int64_t offset = 0;
    std::size_t decoder = 0;
    ChunkRows rows;
    bool clean = false;  // the piece held whole events from its first byte to its last
    bool done = false;
  };

  void cut_and_queue(Block block, BlockReader& blocks);
  void queue(std::unique_ptr<Job> job);
  [[nodiscard]] std::unique_ptr<Job> take_front();
  void settle_front(BlockReader& blocks);
  void fall_back(std::unique_ptr<Job> failed, BlockReader& blocks);
  void work(std::size_t decoder, const std::stop_token& stop);
  static void parse(Job& job, ChunkParser& parser, std::size_t decoder);

  TraceReader& reader_;
  std::size_t max_in_flight_;
  bool ahead_ = false;       // pieces are being parsed ahead; rest_ and offset_ hold
  std::string rest_;         // text behind the last cut
  std::int64_t offset_ = 0;  // of rest_ in the file
  std::unique_ptr<ChunkParser> own_parser_;
  std::vector<std::unique_ptr<Job>> free_jobs_;

  std::mutex mutex_;  // guards the two queues and Job::done
  std::condition_variable_any changed_;
  std::deque<std::unique_ptr<Job>> in_flight_;  // in the order of the text
  std::deque<Job*> waiting_;                    // those that nobody parses yet
  std::vector<std::jthread> threads_;           // last: they must end before the rest goes
};

}  // namespace pyrometer::importers::kineto
