using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Merges sorted runs in the background, one part of a merge at a time. Used by the background thread only.
/// </summary>
internal sealed class BackgroundMerges
{
    // A merge rewrites a file smaller than RunBytes / 16 instead of moving it unchanged: each file costs memory and, in
    // every read, a lookup.
    private const int SmallFileDivisor = 16;

    // Below four full files, the space that old row versions waste is not worth a merge of all runs.
    private const int SpaceFloorRuns = 4;

    private readonly EngineContext _context;
    private readonly MergePicker _picker;

    // A merge reads no memtable, but the classes it shares with a flush need one.
    private readonly Memtable _emptyMemtable;

    // The running merges of each group, the largest at the bottom: during a long merge, newer runs are merged with each
    // other.
    private readonly Dictionary<byte, Stack<MergeJob>> _jobs = [];

    // Groups whose runs are all to be merged, whatever their sizes.
    private readonly HashSet<byte> _requested = [];

    // Caches the result of sampling a file, because each part of a running merge needs it.
    private readonly Dictionary<long, bool> _staleFiles = [];

    public BackgroundMerges(EngineContext context)
    {
        _context = context;
        _emptyMemtable = new Memtable(context.Arenas, context.Sources.Tables);
        _picker = new MergePicker(
            context.Options.FanIn,
            context.Options.MemtableBytes,
            SpaceFloorRuns * context.Options.RunBytes
        );
    }

    /// <summary>Returns the total length of the runs that running and due merges would read.</summary>
    public long PendingBytes(RunSet runs)
    {
        long pending = 0;
        foreach (byte group in _context.Sources.Tables.Groups)
        {
            ReadOnlySpan<SortedRun> ofGroup = runs.Of(group);
            foreach (SortedRun run in ofGroup[Pick(group, ofGroup, ofGroup)])
            {
                pending += run.Bytes;
            }
        }

        return pending;
    }

    /// <summary>
    /// Whether runs of a requested full merge are still to be merged. Other merges do not count: with steady writes one
    /// of them is nearly always running.
    /// </summary>
    public bool IsFullMergePending =>
        _requested.Count > 0 || _jobs.Values.Any(static jobs => jobs.Any(static job => job.IsRequested));

    /// <summary>
    /// Why the last requested full merge leaves runs unmerged, in two sentences that name a damaged file; null if it
    /// leaves none.
    /// </summary>
    public string? FullMergeGap { get; private set; }

    /// <summary>
    /// Requests that all runs of each group are merged into one. Files of chunks stay: they are rewritten when most of
    /// their chunks are dead.
    /// </summary>
    public void RequestFullMerge()
    {
        FullMergeGap = null;
        _requested.UnionWith(_context.Sources.Tables.Groups.Where(static group => group != TableMap.Chunks));
    }

    /// <summary>
    /// Ends a requested full merge. What it has merged stays merged; the remaining runs are merged when they are due.
    /// </summary>
    public void CancelFullMerge()
    {
        _requested.Clear();
        foreach (Stack<MergeJob> unfinished in _jobs.Values)
        {
            // Only the bottom job can be a requested one: it is started while no other job is unfinished.
            MergeJob[] others = [.. unfinished.Where(static job => !job.IsRequested).Reverse()];
            unfinished.Clear();
            foreach (MergeJob job in others)
            {
                unfinished.Push(job);
            }
        }
    }

    /// <summary>Executes the next step, if there is one. Returns whether it did.</summary>
    /// <exception cref="DiskException">Nothing changed; the step can be retried.</exception>
    public bool Step()
    {
        RunSet runs = _context.Published.Current.Runs;
        foreach (byte group in _context.Sources.Tables.Groups)
        {
            if (group == TableMap.Chunks && FileRewrite.FindDead(_context, runs) is { } dead)
            {
                return new FileRewrite(_context, _emptyMemtable).Execute(group, dead);
            }

            if (FindOrStartJob(group, runs.Of(group)) is { } job)
            {
                return DoPart(job);
            }
        }

        return FileRewrite.FindCovered(_context, runs) is { } covered
            && new FileRewrite(_context, _emptyMemtable).Execute(covered.Group, covered.File);
    }

    // Returns the group's smallest unfinished job, after starting a job for newer runs if these are due; null if there
    // is no job.
    private MergeJob? FindOrStartJob(byte group, ReadOnlySpan<SortedRun> runs)
    {
        if (!_jobs.TryGetValue(group, out Stack<MergeJob>? unfinished))
        {
            _jobs[group] = unfinished = [];
        }

        foreach (MergeJob job in unfinished.ToArray())
        {
            if (job.FindIn(runs).Equals(default))
            {
                RequestAgain(unfinished);
                unfinished.Clear();
            }
        }

        // Runs newer than all inputs of unfinished jobs.
        int newerRuns = unfinished.TryPeek(out MergeJob? newest) ? newest.FindIn(runs).Start.Value : runs.Length;
        int usable = 0;
        while (usable < newerRuns && FindDamaged(runs[usable]) is null)
        {
            usable++;
        }

        Range picked = Pick(group, runs, runs[..usable]);
        bool isRequested = unfinished.Count == 0 && _requested.Remove(group);
        if (isRequested)
        {
            RecordGap(runs[..newerRuns]);
            picked = usable > 1 ? ..usable : picked;
        }

        if (!picked.Equals(default))
        {
            unfinished.Push(
                new MergeJob(
                    group,
                    runs[..usable][picked].ToArray(),
                    Output: null,
                    DroppableThrough(group, runs),
                    isRequested
                )
            );
        }

        return unfinished.TryPeek(out MergeJob? next) ? next : null;
    }

    // A merge moves chunk files unchanged while most of their chunks are live. Small chunk files, which a flush with
    // one large value creates, are merged, because each file costs a descriptor, memory and a manifest entry.
    private Range Pick(byte group, ReadOnlySpan<SortedRun> runs, ReadOnlySpan<SortedRun> usable) =>
        group == TableMap.Chunks
            ? _picker.PickSmall(usable, _context.Options.RunBytes / SmallFileDivisor)
            : _picker.Pick(usable, DroppableThrough(group, runs));

    private long DroppableThrough(byte group, ReadOnlySpan<SortedRun> runs) =>
        TombstoneRetention.DroppableThrough(
            group,
            _context.RetainedTombstones,
            runs,
            _context.Durable.Manifest.Position,
            _context.Durable.Deletions.DroppedThrough
        );

    // A damaged run cannot be merged. It waits for its repair; newer runs are merged without it.
    private RunEntry? FindDamaged(SortedRun run) =>
        run.Files.FirstOrDefault(file =>
            !file.IsReadable
            || _context.Sources.Damage.Events.Any(damage =>
                string.Equals(damage.File, file.Path, StringComparison.Ordinal)
            )
        );

    // Requests the full merge of a group again whose job is dropped because a deleted range removed one of its inputs.
    private void RequestAgain(IEnumerable<MergeJob> dropped) =>
        _requested.UnionWith(dropped.Where(static job => job.IsRequested).Select(static job => job.Group));

    // Records the first damaged file among runs that a full merge was to merge.
    private void RecordGap(ReadOnlySpan<SortedRun> runs)
    {
        foreach (SortedRun run in runs)
        {
            if (FindDamaged(run) is { } file)
            {
                FullMergeGap ??=
                    $"{file.Path} is damaged, so it and the older files of its tables were not merged. "
                    + "Merge again when it is repaired.";
            }
        }
    }

    // Drops a job with a damaged input.
    private void DropDamaged(Stack<MergeJob> unfinished)
    {
        MergeJob job = unfinished.Pop();
        if (job.IsRequested)
        {
            RecordGap(job.Inputs);
        }
    }

    private bool DoPart(MergeJob job)
    {
        Stack<MergeJob> unfinished = _jobs[job.Group];
        if (job.Inputs.Any(run => FindDamaged(run) is not null))
        {
            DropDamaged(unfinished);
            return true;
        }

        // If a disk operation below fails, the job stays, so that its DroppableThrough holds for the remaining parts.
        _context.Durable.SettleDoubt(_context);
        ReadOnlySpan<SortedRun> runs = _context.Published.Current.Runs.Of(job.Group);
        MergePart part = MergePart.Next(job.Inputs, file => MayLink(job.Group, file));
        using var merge = new RunMerge(
            _context,
            _emptyMemtable,
            job.Group,
            job.Inputs,
            runs[job.FindIn(runs).End.Value..],
            job.DroppableThrough
        );
        if (part.Linked.Count == 0 && !merge.Run(part.ToExclusive.Span))
        {
            DropDamaged(unfinished);
            return true; // the damage is registered
        }

        SortedRun[] remaining = part.Linked.Count > 0 ? Without(job.Inputs, part.Linked) : merge.RemainingInputs();
        RunEntry[] merged = [.. job.Output?.Files ?? [], .. part.Linked, .. merge.Files];
        SortedRun? output = merged.Length == 0 ? null : new SortedRun(merged);
        bool isInstalled = Install(job, remaining, output, merge);
        unfinished.Pop();
        if (isInstalled && remaining.Length > 0)
        {
            unfinished.Push(job with { Inputs = remaining, Output = output });
        }
        else
        {
            RequestAgain(isInstalled ? [] : [job]);
            _staleFiles.Clear();
        }

        UpdateCounters(part, merge);
        return true;
    }

    // Looks up the runs' positions again, because a flush may have happened meanwhile.
    private bool Install(MergeJob job, SortedRun[] remaining, SortedRun? output, RunMerge merge)
    {
        SortedRun[]?[] changed = _context.Published.Current.Runs.ToArrays();
        SortedRun[] ofGroup = changed[job.Group] ?? [];
        Range place = job.FindIn(ofGroup);
        if (place.Equals(default))
        {
            return false; // a deleted range removed an input: the output is discarded
        }

        SortedRun[] outputs = output is null ? [] : [output];
        changed[job.Group] = [.. ofGroup[..place.Start], .. remaining, .. outputs, .. ofGroup[place.End..]];
        merge.Install(changed);
        return true;
    }

    private void UpdateCounters(MergePart part, RunMerge merge)
    {
        _context.Counters.LinkedFiles += part.Linked.Count;
        _context.Counters.Compactions += part.Linked.Count > 0 ? 0 : 1;
        _context.Counters.CompactedBytes += merge.Bytes;
    }

    // A file may move to the output unchanged if no merge has moved its first keys to another file, and if rewriting
    // it would free little.
    private bool MayLink(byte group, RunEntry file) =>
        file.From.IsEmpty
        && file.Summary.FileBytes >= _context.Options.RunBytes / SmallFileDivisor
        && TombstoneRetention.CountIn(group, file.Summary) * 2 <= file.Summary.Rows
        && !IsMostlyStale(group, file);

    private bool IsMostlyStale(byte group, RunEntry file)
    {
        if (!_staleFiles.TryGetValue(file.Summary.FileId, out bool isStale))
        {
            isStale = FileRewrite.IsMostlyStale(_context, _emptyMemtable, group, file);
            _staleFiles[file.Summary.FileId] = isStale;
        }

        return isStale;
    }

    private static SortedRun[] Without(SortedRun[] inputs, IReadOnlyList<RunEntry> linked) =>
        [
            .. inputs
                .Select(run => new SortedRun([.. run.Files.Where(file => !linked.Contains(file))]))
                .Where(run => run.Files.Length > 0),
        ];
}
