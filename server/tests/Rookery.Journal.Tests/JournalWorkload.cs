using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Journal.Tests;

/// <summary>The content of a log frame, for comparison.</summary>
internal readonly record struct Entry(
    FrameType Type,
    long Index,
    long Term,
    long OperationsBefore,
    int OperationCount,
    int Length,
    uint Checksum
)
{
    public static Entry Of(in JournalFrame frame) =>
        new(
            frame.Type,
            frame.Index,
            frame.Term,
            frame.OperationsBefore,
            frame.OperationCount,
            frame.Payload.Length,
            Platform.Checksum.Of(frame.Payload.Span)
        );
}

/// <summary>
/// A log, a vote and a configuration: the acknowledged state, or the state that was read. Vote and configuration are
/// the checksums of their payloads.
/// </summary>
internal sealed record LogState(Entry[] Entries, uint Vote, uint Configuration)
{
    public static LogState Empty { get; } = new([], Platform.Checksum.Of([]), Platform.Checksum.Of([]));

    public long NextOperation => Entries.Length == 0 ? 0 : Entries[^1].OperationsBefore + Entries[^1].OperationCount;

    public long Term => Entries.Length == 0 ? 1 : Entries[^1].Term;

    /// <summary>Returns the state after a frame.</summary>
    public LogState With(in JournalFrame frame) =>
        frame.Type switch
        {
            FrameType.Vote => this with { Vote = Platform.Checksum.Of(frame.Payload.Span) },
            FrameType.Truncation => this with { Entries = Entries[..(int)frame.Index] },
            _ => this with { Entries = [.. Entries, Entry.Of(frame)] },
        };

    /// <summary>Returns the state after the installation of a snapshot, whose entries are not in the journal.</summary>
    public LogState AfterReset(JournalReset reset)
    {
        var entries = new Entry[reset.Position.Index];
        entries[^1] = new Entry(
            FrameType.Batch,
            reset.Position.Index,
            reset.Position.Term,
            reset.Position.Operations,
            0,
            0,
            0
        );
        return this with { Entries = entries, Configuration = Platform.Checksum.Of(reset.Configuration.Span) };
    }

    /// <summary>Whether the states are equal, without the entries that the manifest has, through its index.</summary>
    public bool EqualsFrom(LogState other, long manifestIndex) =>
        Vote == other.Vote
        && Configuration == other.Configuration
        && Entries.Length == other.Entries.Length
        && Entries.AsSpan((int)manifestIndex).SequenceEqual(other.Entries.AsSpan((int)manifestIndex));
}

/// <summary>
/// Random work on a journal from a seed: small and oversized writes, truncations, votes, releases, spare segments,
/// installed snapshots, kills and clean stops. Records what was acknowledged and when.
/// </summary>
internal sealed class JournalWorkload
{
    private readonly SimulatedDisk _disk;
    private readonly IDisk _wrappedDisk;
    private readonly Random _random;

    // The acknowledged states, the writes that were begun, and the manifests that were durable, each with the number of
    // disk operations before it.
    private readonly List<(int Operation, LogState State)> _acknowledged = [];
    private readonly List<(int Operation, LogState Before, JournalFrame[] Frames)> _attempts = [];
    private readonly List<(int Operation, long Index, JournalReset? PendingReset)> _manifests = [];
    private NodeJournal _journal = null!;

    private JournalWorkload(
        SimulatedDisk disk,
        IDisk wrappedDisk,
        int seed,
        LogState start,
        long manifestIndex,
        JournalReset? reset = null
    )
    {
        _disk = disk;
        _wrappedDisk = wrappedDisk;
        _random = new Random(seed);
        _acknowledged.Add((0, start));
        _manifests.Add((0, manifestIndex, reset));
    }

    private LogState Log => _acknowledged[^1].State;

    private long ManifestIndex => _manifests[^1].Index;

    private JournalReset? LastReset => _manifests[^1].PendingReset;

    /// <summary>
    /// Runs the work of a seed on a new disk, which the journal sees through <paramref name="wrap"/>.
    /// </summary>
    public static (SimulatedDisk Disk, JournalWorkload Run) Run(int seed, Func<IDisk, IDisk>? wrap = null)
    {
        var disk = new SimulatedDisk("/data");
        var run = new JournalWorkload(disk, wrap?.Invoke(disk) ?? disk, seed, LogState.Empty, manifestIndex: 0);
        run.Work(80);
        return (disk, run);
    }

    /// <summary>Runs the work of a seed on a new disk, until its end or the first failing call.</summary>
    public static (SimulatedDisk Disk, JournalWorkload Run, Exception? Failure) RunWithFault(
        int seed,
        int steps,
        DiskFault? fault
    )
    {
        var faulty = new SimulatedDisk("/data");
        if (fault is not null)
        {
            faulty.Inject(fault);
        }

        var run = new JournalWorkload(faulty, faulty, seed, LogState.Empty, manifestIndex: 0);
        try
        {
            run.Work(steps);
            return (faulty, run, null);
        }
        catch (IOException failure)
        {
            return (faulty, run, failure);
        }
    }

    /// <summary>Tries one more write.</summary>
    public void WriteOnceMore() => Write();

    /// <summary>
    /// Opens a crash image. Fails unless it contains every acknowledged frame, and no frame that was not written. Then
    /// continues the work and cuts the power again.
    /// </summary>
    public void Check(SimulatedDisk image, int operation)
    {
        var second = CheckOnce(image, operation);
        second.Work(6);
        int again = second._random.Next(image.OperationCount + 1);
        second.CheckOnce(image.CrashAt(again, operation), again);
    }

    /// <summary>Like <see cref="Check"/>, but returns the workload that continues on the image.</summary>
    public JournalWorkload CheckOnce(SimulatedDisk image, int operation)
    {
        var (_, manifestIndex, reset) = _manifests.FindLast(manifest => manifest.Operation <= operation);
        var promised = _acknowledged.FindLast(promise => promise.Operation <= operation).State;
        // Of a write in flight, any number of its first frames may be found.
        var candidates = new List<LogState> { promised };
        if (
            _attempts.Find(attempt => attempt.Operation <= operation && ReferenceEquals(attempt.Before, promised)) is
            { Frames: { } inFlight }
        )
        {
            foreach (var frame in inFlight)
            {
                candidates.Add(candidates[^1].With(frame));
            }
        }

        using var journal = TestJournal.Open(image, manifestIndex, reset: reset);
        var read = Read(journal, promised, manifestIndex);
        int match = candidates.FindLastIndex(candidate => candidate.EqualsFrom(read, manifestIndex));
        Assert.True(
            match >= 0,
            $"{promised.Entries.Length} entries were acknowledged, but {read.Entries.Length} were read, or others, "
                + $"after the manifest's index {manifestIndex}; {journal.Recovery.Sentence}"
        );
        Assert.Equal(candidates[match].NextOperation, journal.OperationsBeforeNext);
        return new JournalWorkload(image, image, operation, candidates[match], manifestIndex, reset);
    }

    /// <summary>
    /// Returns the state of the entries in the manifest and of those that the journal has after them.
    /// </summary>
    private static LogState Read(NodeJournal journal, LogState promised, long manifestIndex)
    {
        var entries = promised.Entries.Take((int)manifestIndex).ToList();
        entries.AddRange(TestJournal.ReadAll(journal, manifestIndex + 1).Select(static frame => Entry.Of(frame)));
        return new LogState(
            [.. entries],
            Platform.Checksum.Of(journal.Vote.Span),
            Platform.Checksum.Of(journal.Configuration.Span)
        );
    }

    private void Work(int steps)
    {
        _journal = TestJournal.Open(_wrappedDisk, ManifestIndex, reset: LastReset);
        for (int i = 0; i < steps; i++)
        {
            Step();
        }

        _journal.Dispose();
    }

    private void Step()
    {
        switch (_random.Next(100))
        {
            case < 68:
                Write();
                break;
            case < 80:
                _journal.PrepareSpare();
                break;
            case < 90:
                // A flush, which writes a manifest.
                _manifests.Add(
                    (_disk.OperationCount, _random.NextInt64(ManifestIndex, Log.Entries.Length + 1), LastReset)
                );
                _journal.ReleaseThrough(ManifestIndex);
                break;
            case < 92:
                Reset();
                break;
            case < 96:
                _disk.KillProcess();
                Reopen();
                break;
            default:
                _journal.StopCleanly();
                _journal.Dispose();
                Reopen();
                break;
        }
    }

    private void Reopen()
    {
        _journal = TestJournal.Open(_wrappedDisk, ManifestIndex, reset: LastReset);
        Assert.True(Log.EqualsFrom(Read(_journal, Log, ManifestIndex), ManifestIndex), _journal.Recovery.Sentence);
    }

    /// <summary>
    /// Installs a snapshot. It replaces the log when the manifest is durable, even before the journal is reset.
    /// </summary>
    private void Reset()
    {
        long index = Math.Max(ManifestIndex + 1, Log.Entries.Length + _random.Next(-3, 20));
        var position = new JournalPosition(index, Log.Term, Log.NextOperation + _random.Next(100));
        var reset = new JournalReset(
            (LastReset?.Mark ?? 0) + _random.Next(1, 9),
            position,
            index - 1,
            _random.Next(3) == 0 ? default : TestJournal.PayloadOf(index, variant: 5, _random.Next(500))
        );
        _manifests.Add((_disk.OperationCount, index, reset));
        _acknowledged.Add((_disk.OperationCount, Log.AfterReset(reset)));
        _journal.ResetTo(reset);
    }

    /// <summary>Writes some entries, sometimes after a vote or a truncation.</summary>
    private void Write()
    {
        var frames = new List<JournalFrame>();
        var state = Log;
        if (_random.Next(15) == 0)
        {
            Add(
                new JournalFrame(
                    FrameType.Vote,
                    Index: 0,
                    Term: 1,
                    state.NextOperation,
                    OperationCount: 0,
                    TestJournal.PayloadOf(_acknowledged.Count, variant: 3, length: 30)
                )
            );
        }

        if (_random.Next(10) == 0 && state.Entries.Length > ManifestIndex)
        {
            long keptThrough = _random.NextInt64(ManifestIndex, state.Entries.Length);
            var truncated = state with { Entries = state.Entries[..(int)keptThrough] };
            Add(
                new JournalFrame(
                    FrameType.Truncation,
                    keptThrough,
                    truncated.Term,
                    truncated.NextOperation,
                    OperationCount: 0,
                    Payload: default
                )
            );
        }

        int count = _random.Next(1, 4);
        for (int i = 0; i < count; i++)
        {
            int length = _random.Next(20) switch
            {
                0 => 40_000,
                1 or 2 => 9_000,
                < 8 => _random.Next(3000),
                _ => _random.Next(600),
            };
            int operations = _random.Next(4);
            Add(
                new JournalFrame(
                    FrameType.Batch,
                    state.Entries.Length + 1,
                    state.Term,
                    state.NextOperation,
                    operations,
                    TestJournal.PayloadOf(state.Entries.Length + 1, _acknowledged.Count, length)
                )
            );
        }

        _attempts.Add((_disk.OperationCount, Log, [.. frames]));
        _journal.Write([.. frames]);
        _acknowledged.Add((_disk.OperationCount, state));

        void Add(JournalFrame frame)
        {
            frames.Add(frame);
            state = state.With(frame);
        }
    }
}
