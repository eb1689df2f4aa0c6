using System.Buffers;
using Rookery.Cluster;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Answering;

namespace Rookery.Peers;

/// <summary>
/// Rookery's engine of queries in process, on the data directory of a node that built the index and stopped.
/// </summary>
internal sealed class RookeryQueries : IQuerySubject, IDisposable
{
    private readonly Node _node;
    private readonly IndexHost _indexes;
    private readonly IndexingThread _indexing;
    private readonly QueryEngine _engine;
    private readonly Database _database;

    public RookeryQueries(string directory, string database)
    {
        var disk = new PosixDisk();
        var memory = new MemoryBudget(1L << 30);
        var io = new IoTimeline(TimeProvider.System, "device");
        _node = Node.Open(
            new NodeOptions { DataDirectory = directory },
            disk,
            memory,
            io,
            TimeProvider.System,
            RaftConsensus.Alone
        );
        _indexes = IndexHost.Open(
            _node.Databases,
            disk,
            new IndexHostOptions
            {
                DataDirectory = directory,
                ShareOfCore = static () => 1,
                HasRoom = static () => true,
                HasReapplied = _node.HasReapplied,
                TroubleFound = static trouble => throw new InvalidOperationException(trouble),
                Memory = memory,
                Io = io,
            },
            TimeProvider.System
        );
        _indexing = new IndexingThread(_indexes, _node.Databases, TimeProvider.System);
        _engine = new QueryEngine(
            _indexes,
            new NoDefinitions(),
            memory.AddShare("queries", 256L << 20),
            TimeProvider.System,
            CancellationToken.None
        );
        _database = _node.Databases.TryGet(database, out var found)
            ? found
            : throw new ArgumentException($"There is no database {database} in {directory}.", nameof(database));
        while (_indexes.ReadStatus(_database) is not [{ IsStale: false }, ..])
        {
            Thread.Sleep(10); // until the thread has opened the index
        }
    }

    public Func<AskedQuery, long> BeginSession()
    {
        var sink = new Sink();
        return asked => AnswerAsync(asked, sink).AsTask().GetAwaiter().GetResult();
    }

    public void Dispose()
    {
        _indexing.Dispose();
        _node.StopCleanly();
    }

    private async ValueTask<long> AnswerAsync(AskedQuery asked, Sink sink)
    {
        using var plan = _engine.Plan(
            _database,
            new QueryRequest(asked.Text, asked.Parameters, 0, long.MaxValue, TimeSpan.FromMinutes(1))
        );
        using var answer = await _engine.ExecuteAsync(_database, plan, sink);
        if (answer.IsScan || answer.IsStale)
        {
            throw new InvalidOperationException($"{asked.Text} is not answered by an up-to-date index.");
        }

        sink.Truncate(0);
        while (await answer.Results.MoveNextAsync())
        {
            answer.Results.Write(sink);
        }

        return answer.Results.KnownTotal ?? await answer.Results.CountAsync();
    }

    private sealed class NoDefinitions : IAutomaticIndexes
    {
        public bool HaveFailedLately => true;

        public void RecordFailure() { }

        public void RecordUse(Database database, string name) { }

        public Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition) =>
            throw new InvalidOperationException("The index that the query needs does not exist.");
    }

    /// <summary>Keeps the answer in memory.</summary>
    private sealed class Sink : IAnswerSink, IResultBuffer
    {
        private byte[] _bytes = new byte[1 << 16];

        public CancellationToken Disconnected => CancellationToken.None;

        public int Length { get; private set; }

        public bool TryReserve(long bytes) => true;

        public Task WaitForMemoryAsync(long bytes) => Task.CompletedTask;

        public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) => new(true);

        public void AbortConnection() => throw new InvalidOperationException("An answer could not be completed.");

        public void Advance(int count) => Length += count;

        public Memory<byte> GetMemory(int sizeHint = 0)
        {
            if (_bytes.Length - Length < Math.Max(sizeHint, 1))
            {
                Array.Resize(ref _bytes, Math.Max(2 * _bytes.Length, Length + sizeHint));
            }

            return _bytes.AsMemory(Length);
        }

        public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

        public void Truncate(int length) => Length = length;

        public void Write(ReadOnlySpan<byte> bytes) => BuffersExtensions.Write(this, bytes);
    }
}
