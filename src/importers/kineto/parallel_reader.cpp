#include "importers/kineto/parallel_reader.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace pyrometer::importers::kineto {

ParallelReader::ParallelReader(TraceReader& reader, unsigned threads)
    : reader_(reader),
      max_in_flight_(std::size_t{threads} * 2 + 2),
      own_parser_(std::make_unique<ChunkParser>()) {
  // Decoder 0 is the reader's own, 1 the calling thread's here.
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      threads_.emplace_back([this, i](const std::stop_token& stop) { work(i + 1, stop); });
    } catch (const std::system_error&) {
      break;  // no more threads to be had: fewer do it too
    }
  }
}

ParallelReader::~ParallelReader() {
  for (std::jthread& thread : threads_) thread.request_stop();
  changed_.notify_all();
}

void ParallelReader::feed(Block block, BlockReader& blocks) {
  if (!ahead_) {
    reader_.feed(block.text, block.size);
    blocks.recycle(std::move(block));
    ahead_ = reader_.inside_events();
    if (ahead_) {
      rest_ = reader_.take_rest();
      offset_ = reader_.offset();
    }
    return;
  }
  cut_and_queue(std::move(block), blocks);
}

void ParallelReader::finish(BlockReader& blocks) {
  while (ahead_ && !in_flight_.empty()) settle_front(blocks);
  if (ahead_) reader_.give_rest(std::move(rest_));
  ahead_ = false;
}

// Puts what was left over before the block's text, cuts behind the last whole event and queues the
// piece before the cut.
void ParallelReader::cut_and_queue(Block block, BlockReader& blocks) {
  const std::size_t cut =
      rest_.size() <= TraceReader::kHeadroom ? guess_cut({block.text, block.size}) : 0;
  if (cut == 0) {
    // An event larger than a block, or the end of the list: nothing that is worth many threads.
    while (ahead_ && !in_flight_.empty()) settle_front(blocks);
    if (ahead_) reader_.give_rest(std::move(rest_));
    ahead_ = false;
    return feed(std::move(block), blocks);
  }
  std::unique_ptr<Job> job;
  if (free_jobs_.empty()) {
    job = std::make_unique<Job>();
  } else {
    job = std::move(free_jobs_.back());
    free_jobs_.pop_back();
  }
  job->text = block.text - rest_.size();
  std::memcpy(job->text, rest_.data(), rest_.size());
  job->size = rest_.size() + cut;
  job->offset = offset_;
  job->done = job->clean = false;
  rest_.assign(block.text + cut, block.size - cut);
  offset_ += static_cast<std::int64_t>(job->size);
  job->block = std::move(block);
  queue(std::move(job));
  while (ahead_ && in_flight_.size() >= max_in_flight_) settle_front(blocks);
}

void ParallelReader::queue(std::unique_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(job.get());
    in_flight_.push_back(std::move(job));
  }
  changed_.notify_one();
}

// The oldest job, parsed; meanwhile this thread parses what nobody else does.
std::unique_ptr<ParallelReader::Job> ParallelReader::take_front() {
  std::unique_lock lock(mutex_);
  while (!in_flight_.front()->done) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Job* job = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    parse(*job, *own_parser_, 1);
    lock.lock();
    job->done = true;
  }
  std::unique_ptr<Job> job = std::move(in_flight_.front());
  in_flight_.pop_front();
  return job;
}

void ParallelReader::settle_front(BlockReader& blocks) {
  std::unique_ptr<Job> job = take_front();
  reader_.take_tables(job->decoder, job->rows);
  if (!job->clean) return fall_back(std::move(job), blocks);
  reader_.add_chunk(job->decoder, job->rows, job->size);
  blocks.recycle(std::move(job->block));
  free_jobs_.push_back(std::move(job));
}

// Feeds the text of a job that was not clean, and of all behind it, as it is.
void ParallelReader::fall_back(std::unique_ptr<Job> failed, BlockReader& blocks) {
  ahead_ = false;
  while (true) {
    reader_.feed(failed->text, failed->size);
    blocks.recycle(std::move(failed->block));
    free_jobs_.push_back(std::move(failed));
    if (in_flight_.empty()) break;
    failed = take_front();
    reader_.take_tables(failed->decoder, failed->rows);
  }
  reader_.feed_copy(rest_);
  rest_.clear();
}

void ParallelReader::work(std::size_t decoder, const std::stop_token& stop) {
  ChunkParser parser;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    Job* job = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    parse(*job, parser, decoder);
    lock.lock();
    job->done = true;
    changed_.notify_all();
  }
}

void ParallelReader::parse(Job& job, ChunkParser& parser, std::size_t decoder) {
  job.rows.clear();
  job.decoder = decoder;
  try {
    job.clean = parser.parse_whole({job.text, job.size, job.offset, false}, job.rows);
  } catch (const std::bad_alloc&) {
    job.clean = false;  // the reader will meet it again, on the calling thread
  }
}

}  // namespace pyrometer::importers::kineto
