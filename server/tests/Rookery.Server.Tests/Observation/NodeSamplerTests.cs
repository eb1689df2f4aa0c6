using Rookery.Board;
using Rookery.Platform;
using Rookery.Server.Observation;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Observation;

/// <summary>The figures that a node samples: every ten seconds to keep them, and at any time to show them.</summary>
public sealed class NodeSamplerTests
{
    private const int BytesWrittenToCard = 4711;

    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task A_hanging_sensor_blocks_no_sample_and_its_figures_are_unknown()
    {
        using var board = new HangingBoard();
        using var watch = new BoardWatch(board, TimeProvider.System);
        var server = new RunningServer
        {
            Time = new SimulatedTimeProvider(),
            ChangeOptions = options => options with { Board = watch },
        };
        await server.InitializeAsync();
        try
        {
            var sampler = server.Context.Observation.Sampler;
            Assert.Equal(BytesWrittenToCard, sampler.TakeToKeep()[Figure.DeviceWrittenBytes]);

            board.MayAnswer.Reset();
            var kept = Task.Run(sampler.TakeToKeep);
            await Task.Run(() => board.IsBlocked.Wait(Guard));
            var shown = await Task.Run(sampler.TakeToShow).WaitAsync(Guard);
            Assert.Null(shown[Figure.DeviceWrittenBytes]);
            Assert.Equal(1, shown[Figure.ReadyRatio]);
            Assert.Null((await kept.WaitAsync(Guard))[Figure.DeviceWrittenBytes]);

            board.MayAnswer.Set();
            ((SimulatedTimeProvider)server.Time).Advance(TimeSpan.FromSeconds(1));
            await TwoMembers.AwaitAsync(() =>
                Task.FromResult(sampler.TakeToKeep()[Figure.DeviceWrittenBytes] is BytesWrittenToCard ? "known" : null)
            );
        }
        finally
        {
            board.MayAnswer.Set();
            await server.DisposeAsync();
        }
    }

    [Fact]
    public async Task Shown_rates_cover_the_last_seconds_even_after_a_long_pause()
    {
        var time = new SimulatedTimeProvider();
        var server = new RunningServer { Time = time };
        await server.InitializeAsync();
        var sampler = server.Context.Observation.Sampler;
        sampler.TakeToShow();
        // An hour.
        for (int sample = 0; sample < 360; sample++)
        {
            time.Advance(SampleHistory.Span);
            sampler.TakeToKeep();
        }

        // The rate covers ten seconds with 20 syncs up to the kept sample, and a tenth of a second without any.
        time.Advance(SampleHistory.Span);
        for (int sync = 0; sync < 20; sync++)
        {
            server.Context.Io.Record(IoKind.JournalSync, server.Context.Io.Begin(), 0);
        }

        sampler.TakeToKeep();
        time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(20 / 10.1, sampler.TakeToShow()[Figure.SyncsPerSecond]!.Value, tolerance: 1e-9);
        await server.DisposeAsync();
    }

    [Fact]
    public async Task Sync_durations_are_those_of_the_last_ten_seconds()
    {
        var time = new SimulatedTimeProvider();
        var server = new RunningServer { Time = time };
        await server.InitializeAsync();
        var sampler = server.Context.Observation.Sampler;
        time.Advance(2 * SampleHistory.Span); // after the syncs of the start
        long startedAt = server.Context.Io.Begin();
        time.Advance(TimeSpan.FromMilliseconds(100));
        server.Context.Io.Record(IoKind.JournalSync, startedAt, 0);
        Assert.Equal(100, sampler.TakeToKeep()[Figure.SyncP99Milliseconds]);
        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(100, sampler.TakeToShow()[Figure.SyncP99Milliseconds]);
        time.Advance(SampleHistory.Span);

        // The node itself may write; such a sync takes no time here.
        Assert.True(sampler.TakeToShow()[Figure.SyncP99Milliseconds] is null or 0);
        Assert.True(sampler.TakeToKeep()[Figure.SyncP99Milliseconds] is null or 0);
        await server.DisposeAsync();
    }

    [Fact]
    public void A_percentile_is_a_duration_in_milliseconds_and_null_without_syncs()
    {
        // In microseconds; the percentile is in milliseconds.
        Assert.Null(NodeSampler.Percentile(ordered: [], fraction: 0.99));
        Assert.Equal(2, NodeSampler.Percentile(ordered: [1000, 2000], fraction: 0.99));
        Assert.Equal(1, NodeSampler.Percentile(ordered: [1000, 2000], fraction: 0.5));
    }

    /// <summary>A board whose card answers only while <see cref="MayAnswer"/> is set.</summary>
    private sealed class HangingBoard : IBoard
    {
        public ManualResetEventSlim MayAnswer { get; } = new(initialState: true);

        public ManualResetEventSlim IsBlocked { get; } = new();

        public bool IsSimulated => true;

        public string? Model => "hanging";

        public string? SerialNumber => null;

        public IBoardLight? Light => null;

        public BoardReading Read() => default;

        public IReadOnlyList<StorageReading> ReadStorage()
        {
            if (!MayAnswer.IsSet)
            {
                IsBlocked.Set();
                MayAnswer.Wait();
            }

            return [new StorageReading("mmcblk0") { WrittenBytes = BytesWrittenToCard }];
        }

        public MachineUse ReadUse() => default;

        public void Dispose()
        {
            MayAnswer.Dispose();
            IsBlocked.Dispose();
        }
    }
}
