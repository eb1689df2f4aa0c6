using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Install;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Repair;

/// <summary>
/// Rewrites a damaged run file from its readable rows and, for the damaged range, rows of another node. The repair
/// copies rows, not files, because each node merges separately, so no other node has the same run. The new file takes
/// the old file's position among the runs: newer runs hide its rows, and its rows hide older ones.
/// </summary>
public sealed class FileRepair
{
    private readonly EngineContext _context;
    private readonly Memtable _emptyMemtable; // a repair reads runs only

    internal FileRepair(EngineContext context)
    {
        _context = context;
        _emptyMemtable = new Memtable(context.Arenas, context.Sources.Tables);
    }

    /// <summary>
    /// Checks every byte of the damaged files and returns the requests for all damage in them. Requests for the oldest
    /// runs come first, because repairing a newer run reads the older ones. Called by the background thread.
    /// </summary>
    public IReadOnlyList<RepairRequest> Find()
    {
        if (_context.Sources.Damage.IsEmpty)
        {
            return [];
        }

        var requests = new List<RepairRequest>();
        RunSet runs = _context.Published.Current.Runs;
        foreach (byte group in _context.Sources.Tables.Groups)
        {
            for (int place = runs.Of(group).Length - 1; place >= 0; place--)
            {
                requests.AddRange(
                    runs.Of(group)[place].Files.Select(file => RequestFor(file, group)).OfType<RepairRequest>()
                );
            }
        }

        return requests;
    }

    /// <summary>
    /// Writes the applied rows of a range into a file, for a node that lost them. Callable from any thread.
    /// </summary>
    /// <param name="request">The request; its file is the other node's.</param>
    /// <param name="path">The path of a new file, which the caller deletes.</param>
    /// <exception cref="ReceivedStateException">The range has too many rows; a full snapshot is faster.</exception>
    /// <exception cref="DamagedException">The rows cannot be read here either.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public RepairRows Write(RepairRequest request, string path) =>
        new RangeExport(_context).Write(path, request.Group, request.From.Span, request.ToExclusive.Span);

    /// <summary>
    /// Rewrites a damaged file with the rows of another node. Called by the background thread.
    /// </summary>
    /// <param name="request">The request, from <see cref="Find"/>.</param>
    /// <param name="rows">The rows of another node, as of an index not above <see cref="StorageEngine.Durable"/>: a
    /// replay after a crash must not find rows of entries that it applies again.</param>
    /// <returns>False if the file is no longer in use, or if further damage was found, in this file or an older one.
    /// That damage is then registered: call <see cref="Find"/> again.</returns>
    /// <exception cref="ReceivedStateException">The rows are damaged, or their position does not fit. Nothing
    /// changed.</exception>
    /// <exception cref="DiskException">A disk operation failed. Nothing changed.</exception>
    public bool Repair(RepairRequest request, RepairRows rows)
    {
        if (
            rows.Position.Sequence < request.LeastSequence
            || rows.Position.Index > _context.Durable.Manifest.Position.Index
        )
        {
            throw new ReceivedStateException(
                $"The rows for the repair of {request.File} are of index {rows.Position.Index} and etag "
                    + $"{rows.Position.Sequence}. The repair needs rows of etag {request.LeastSequence} or later, and "
                    + $"of index {_context.Durable.Manifest.Position.Index} or earlier."
            );
        }

        SortedRun[]?[] changed = _context.Published.Current.Runs.ToArrays();
        SortedRun[] ofGroup = changed[request.Group] ?? [];
        int place = Array.FindIndex(ofGroup, run => run.Files.Any(IsRequested));
        if (place < 0)
        {
            return false;
        }

        _context.Durable.SettleDoubt(_context);
        RunEntry damaged = ofGroup[place].Files.First(IsRequested);
        RunReader received =
            RunReader.Open(
                _context.Disk,
                rows.Path,
                RangeExport.FileId,
                _context.Cache,
                _context.Io,
                out RunDamage? receivedDamage
            )
            ?? throw new ReceivedStateException(
                $"{rows.Path} cannot be used for a repair: {receivedDamage!.Reason}.",
                rows.Path
            );
        using var output = new RunOutput(_context, request.Group, IoKind.Compaction, _context.Durable.Deletions.Ranges);
        try
        {
            using var dropping = new RowDropping(
                _context,
                request.Group,
                _emptyMemtable,
                _context.Published.Current.Runs,
                _context.Durable.Manifest.Position,
                _context.Durable.Deletions.Ranges,
                ofGroup.AsSpan(place + 1)
            );
            if (!WriteRows(request, damaged, received, ofGroup[(place + 1)..], dropping, output))
            {
                return false;
            }
        }
        finally
        {
            received.Release();
        }

        SortedRun repaired = ofGroup[place].Replace(damaged, [.. output.Finish()]);
        SortedRun[] replacement = repaired.Files.Length > 0 ? [repaired] : [];
        changed[request.Group] = [.. ofGroup[..place], .. replacement, .. ofGroup[(place + 1)..]];
        Install(changed, output, damaged.Summary.LargestSequence);
        return true;

        bool IsRequested(RunEntry file) => string.Equals(file.Path, request.File, StringComparison.Ordinal);
    }

    // The lost rows may include tombstones that the other node already dropped, so this store counts them as dropped
    // too.
    private void Install(SortedRun[]?[] changed, RunOutput output, long droppedThrough)
    {
        var next = new RunSet(changed);
        try
        {
            output.HandOver();
            _context.Durable.Install(
                _context,
                next,
                _context.Durable.Manifest.Position,
                _context.Durable.Deletions.Forget(droppedThrough),
                flushed: null
            );
        }
        finally
        {
            next.Release();
        }
    }

    // Returns the request that covers all damage of a file; null if the file has none. Checks the whole file first.
    private RepairRequest? RequestFor(RunEntry file, byte group)
    {
        if (!_context.Sources.Damage.Events.Any(damage => Affects(damage, file)))
        {
            return null;
        }

        long offset = 0;
        while (file.IsReadable && offset < file.Summary.FileBytes)
        {
            if (file.Reader.Verify(offset, file.Summary.FileBytes, out offset) is { } damage)
            {
                _ = _context.Sources.Damage.Register(damage, file, _context.NamesOf(file));
            }
        }

        DamageEvent[] all = [.. _context.Sources.Damage.Events.Where(damage => Affects(damage, file))];
        ReadOnlyMemory<byte> lowest = all[0].FirstKey;
        ReadOnlyMemory<byte> end = all[0].ToExclusive;
        foreach (DamageEvent damage in all)
        {
            lowest = damage.FirstKey.Span.SequenceCompareTo(lowest.Span) < 0 ? damage.FirstKey : lowest;
            end = damage.ToExclusive.Span.SequenceCompareTo(end.Span) > 0 ? damage.ToExclusive : end;
        }

        return new RepairRequest(file.Path, group, lowest, end, file.Summary.LargestSequence);
    }

    private static bool Affects(DamageEvent damage, RunEntry file) =>
        string.Equals(damage.File, file.Path, StringComparison.Ordinal);

    private bool WriteRows(
        RepairRequest request,
        RunEntry damaged,
        RunReader received,
        SortedRun[] older,
        RowDropping dropping,
        RunOutput output
    )
    {
        byte[] from = request.From.ToArray();
        byte[] to = request.ToExclusive.ToArray();
        bool hasRowsBefore = damaged.FirstKey.SequenceCompareTo(from) < 0;
        bool hasRowsAfter = damaged.LastKey.SequenceCompareTo(to) >= 0;
        return (!hasRowsBefore || Copy(damaged, damaged.FirstKey, from))
            && WriteRange()
            && (!hasRowsAfter || Copy(damaged, to, toExclusive: []));

        bool Copy(RunEntry file, ReadOnlySpan<byte> first, ReadOnlySpan<byte> toExclusive)
        {
            using SortedRunCursor rows = Open(new SortedRun([file]), request.Group);
            bool hasRow = rows.SeekForward(first);
            while (hasRow && (toExclusive.IsEmpty || rows.Key.SequenceCompareTo(toExclusive) < 0))
            {
                Add(rows.Key, rows.Sequence, rows.Kind, rows.Value);
                hasRow = rows.Move();
            }

            // The last move may have read the first block after the copied range, which may be the damaged one.
            return rows.Damage is not { } damage
                || (!toExclusive.IsEmpty && damage.From.Span.SequenceCompareTo(toExclusive) >= 0);
        }

        // Writes the received rows. A row that only older runs have was deleted, perhaps by a lost tombstone: a new
        // tombstone keeps it hidden.
        bool WriteRange()
        {
            using RunCursor rows = received.OpenSequentialCursor(IoKind.Compaction);
            using var olderRows = new MergingCursor([.. older.Select(run => Open(run, request.Group))]);
            bool hasReceived = rows.SeekForward(from);
            bool hasOlder = olderRows.SeekForward(from);
            while (hasOlder && olderRows.Key.SequenceCompareTo(to) < 0)
            {
                while (hasReceived && rows.Key.SequenceCompareTo(olderRows.Key) < 0)
                {
                    Add(rows.Key, rows.Sequence, rows.Kind, rows.Value);
                    hasReceived = rows.Move();
                }

                if (olderRows.Kind != RowKind.Tombstone && !(hasReceived && rows.Key.SequenceEqual(olderRows.Key)))
                {
                    Add(olderRows.Key, request.LeastSequence, RowKind.Tombstone, []);
                }

                hasOlder = olderRows.Move();
            }

            while (hasReceived)
            {
                Add(rows.Key, rows.Sequence, rows.Kind, rows.Value);
                hasReceived = rows.Move();
            }

            return rows.Damage is { } damage
                ? throw new ReceivedStateException(
                    $"{damage.Path} cannot be used for a repair: {damage.Reason}.",
                    damage.Path
                )
                : olderRows.Damage is null;
        }

        void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
        {
            if (!dropping.MayDrop(key, sequence, kind, value))
            {
                output.Add(key, sequence, kind, value);
            }
        }
    }

    private SortedRunCursor Open(SortedRun run, byte group) =>
        new(
            run.Files,
            _context.Sources.Damage,
            _context.Sources.Tables.NamesOf(group),
            static reader => reader.OpenSequentialCursor(IoKind.Compaction)
        );
}
