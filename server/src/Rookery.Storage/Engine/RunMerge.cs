using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Executes one part of a merge: writes the inputs' rows below a key into one output file, and ends early when that
/// file is full.
/// </summary>
internal sealed class RunMerge(
    EngineContext context,
    Memtable emptyMemtable,
    byte group,
    SortedRun[] inputs,
    ReadOnlySpan<SortedRun> older,
    long droppableAtMost
) : IDisposable
{
    // A lookup of another row counts as this many merged bytes for the pacer, because many lookups wait for the disk.
    private const int LookupBytes = 1024;

    private readonly RowDropping _dropping = new(
        context,
        group,
        emptyMemtable,
        context.Published.Current.Runs,
        context.Durable.Manifest.Position,
        context.Durable.Deletions.Ranges,
        older,
        droppableAtMost
    );

    private readonly RunOutput _output = new(context, group, IoKind.Compaction, context.Durable.Deletions.Ranges);
    private byte[]? _resumeAt;

    /// <summary>The written files: one, or none if no row remained.</summary>
    public IReadOnlyList<RunEntry> Files { get; private set; } = [];

    /// <summary>Total length of the written files.</summary>
    public long Bytes => _output.Bytes;

    /// <summary>Merges up to <paramref name="toExclusive"/>; empty means to the end.</summary>
    /// <returns>False if an input is damaged.</returns>
    public bool Run(ReadOnlySpan<byte> toExclusive)
    {
        using var cursor = new MergingCursor([.. inputs.Select(OpenSource)]);
        long unpaced = 0;
        long lookups = 0;
        bool hasRow = cursor.SeekForward([]);
        while (hasRow && (toExclusive.IsEmpty || cursor.Key.SequenceCompareTo(toExclusive) < 0))
        {
            if (_output.IsFull)
            {
                _resumeAt = cursor.Key.ToArray();
                break;
            }

            if (!_dropping.MayDrop(cursor.Key, cursor.Sequence, cursor.Kind, cursor.Value))
            {
                _output.Add(cursor.Key, cursor.Sequence, cursor.Kind, cursor.Value);
            }

            unpaced += cursor.Key.Length + cursor.Value.Length + ((_dropping.Lookups - lookups) * LookupBytes);
            lookups = _dropping.Lookups;
            if (unpaced > RunOutput.PaceBytes)
            {
                context.Options.Pacer?.Yield(unpaced, context.IsUrgent);
                context.FlushIfNeeded?.Invoke();
                unpaced = 0;
            }

            hasRow = cursor.Move();
        }

        if (cursor.Damage is not null)
        {
            return false;
        }

        _resumeAt ??= hasRow ? toExclusive.ToArray() : null;
        Files = _output.Finish();
        return true;
    }

    /// <summary>Returns the parts of the inputs that this merge did not reach.</summary>
    public SortedRun[] RemainingInputs() =>
        _resumeAt is null
            ? []
            :
            [
                .. inputs
                    .Select(run => new SortedRun([.. run.Files.Where(IsRemaining).Select(RemainderOf)]))
                    .Where(run => run.Files.Length > 0),
            ];

    /// <summary>
    /// Publishes a set of runs that contains the output: durable in the manifest, then visible to readers.
    /// </summary>
    public void Install(SortedRun[]?[] runs)
    {
        Deletions deletions = CoveredRuns.Drop(runs, context.Durable.Deletions.Forget(_dropping.DroppedThrough));
        var next = new RunSet(runs);
        try
        {
            _output.HandOver();
            context.Durable.Install(context, next, context.Durable.Manifest.Position, deletions, flushed: null);
        }
        finally
        {
            next.Release();
        }
    }

    public void Dispose()
    {
        _dropping.Dispose(); // first, because it keeps input files open that the output's Dispose deletes
        _output.Dispose();
    }

    private bool IsRemaining(RunEntry file) => file.LastKey.SequenceCompareTo(_resumeAt) >= 0;

    private RunEntry RemainderOf(RunEntry file) =>
        file.FirstKey.SequenceCompareTo(_resumeAt) >= 0 ? file : file with { From = _resumeAt };

    private SortedRunCursor OpenSource(SortedRun run) =>
        new(
            run.Files,
            context.Sources.Damage,
            context.Sources.Tables.NamesOf(group),
            static reader => reader.OpenSequentialCursor(IoKind.Compaction)
        );
}
