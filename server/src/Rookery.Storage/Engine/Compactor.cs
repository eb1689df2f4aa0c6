using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>Chooses compactions and does them, a part at a time. Used by the background thread.</summary>
internal sealed class Compactor
{
    // Smaller files are worth writing once more: many of them would cost memory and a look each.
    private const int LinkedShareOfRun = 16;
    private const int SpaceFloorRuns = 4;

    private readonly EngineContext _context;
    private readonly CompactionPicker _picker;
    private readonly Memtable _none;

    // Per group the merges under way, the widest at the bottom: while a long one goes on, newer runs are merged among
    // themselves.
    private readonly Dictionary<byte, Stack<CompactionJob>> _jobs = [];

    // What the sample of a file said, for as long as a merge is under way that asks again at each part.
    private readonly Dictionary<long, bool> _staleFiles = [];

    public Compactor(EngineContext context)
    {
        _context = context;
        _none = new Memtable(context.Arenas);
        _picker = new CompactionPicker(
            context.Options.FanIn,
            context.Options.MemtableBytes,
            SpaceFloorRuns * context.Options.RunBytes
        );
    }

    /// <summary>Bytes of runs that merges under way or due would read.</summary>
    public long PendingBytes(RunSet runs)
    {
        long pending = 0;
        foreach (byte group in _context.Sources.Tables.Groups)
        {
            ReadOnlySpan<SortedRun> ofGroup = runs.Of(group);
            Range picked = Pick(group, ofGroup, ofGroup);
            foreach (SortedRun run in picked.Equals(default) ? [] : ofGroup[picked])
            {
                pending += run.Bytes;
            }
        }

        return pending;
    }

    /// <summary>Does the next step, if there is one.</summary>
    /// <exception cref="DiskException">Nothing changed; the step can be tried again.</exception>
    public bool Step()
    {
        RunSet runs = _context.Published.Current.Runs;
        foreach (byte group in _context.Sources.Tables.Groups)
        {
            if (group == TableMap.Chunks && FileRewrite.FindDead(_context, runs) is { } dead)
            {
                return new FileRewrite(_context, _none).Do(group, dead);
            }

            if (JobOf(group, runs.Of(group)) is { } job)
            {
                return DoPart(job);
            }
        }

        return FileRewrite.FindCovered(_context, runs) is { } covered
            && new FileRewrite(_context, _none).Do(covered.Group, covered.File);
    }

    private CompactionJob? JobOf(byte group, ReadOnlySpan<SortedRun> runs)
    {
        if (!_jobs.TryGetValue(group, out Stack<CompactionJob>? unfinished))
        {
            _jobs[group] = unfinished = [];
        }

        foreach (CompactionJob job in unfinished.ToArray())
        {
            if (job.PlaceIn(runs).Equals(default))
            {
                unfinished.Clear();
            }
        }

        int newer = unfinished.TryPeek(out CompactionJob? newest) ? newest.PlaceIn(runs).Start.Value : runs.Length;
        int usable = 0;
        while (usable < newer && !IsDamaged(runs[usable]))
        {
            usable++;
        }

        Range picked = Pick(group, runs, runs[..usable]);
        if (!picked.Equals(default))
        {
            unfinished.Push(new CompactionJob(group, runs[..usable][picked].ToArray(), Output: null));
        }

        return unfinished.TryPeek(out CompactionJob? next) ? next : null;
    }

    // Chunks stay where they are while most of them live. But a flush with one large value makes a file of its own, and
    // each costs a descriptor, memory and a place in every manifest.
    private Range Pick(byte group, ReadOnlySpan<SortedRun> runs, ReadOnlySpan<SortedRun> usable) =>
        group == TableMap.Chunks
            ? _picker.PickSmall(usable, _context.Options.RunBytes / LinkedShareOfRun)
            : _picker.Pick(
                usable,
                KeptDeletions.ForgettableThrough(_context.KeptDeletions, runs, _context.Durable.Manifest.Position)
            );

    // What cannot be read cannot be merged; it waits for its repair, and newer runs are merged without it.
    private bool IsDamaged(SortedRun run) =>
        run.Files.Any(file =>
            !file.IsReadable
            || _context.Sources.Damage.Events.Any(damage =>
                string.Equals(damage.File, file.Reader.Path, StringComparison.Ordinal)
            )
        );

    private bool DoPart(CompactionJob job)
    {
        Stack<CompactionJob> unfinished = _jobs[job.Group];
        unfinished.Pop();
        if (job.Inputs.Any(IsDamaged))
        {
            return true;
        }

        ReadOnlySpan<SortedRun> runs = _context.Published.Current.Runs.Of(job.Group);
        CompactionPart part = CompactionPart.Next(job.Inputs, file => MayLink(job.Group, file));
        using var merge = new CompactionMerge(
            _context,
            _none,
            job.Group,
            job.Inputs,
            runs[job.PlaceIn(runs).End.Value..]
        );
        if (part.Linked.Count == 0 && !merge.Run(part.ToExclusive.Span))
        {
            return true; // damage, which is noted by now: the job is given up
        }

        SortedRun[] left = part.Linked.Count > 0 ? Without(job.Inputs, part.Linked) : merge.Left();
        RunEntry[] merged = [.. job.Output?.Files ?? [], .. part.Linked, .. merge.Files];
        SortedRun? output = merged.Length == 0 ? null : new SortedRun(merged);
        if (Install(job, left, output, merge) && left.Length > 0)
        {
            unfinished.Push(new CompactionJob(job.Group, left, output));
        }
        else
        {
            _staleFiles.Clear();
        }

        Count(part, merge);
        return true;
    }

    // Looks the runs up again: a flush may have come in between.
    private bool Install(CompactionJob job, SortedRun[] left, SortedRun? output, CompactionMerge merge)
    {
        SortedRun[]?[] changed = _context.Published.Current.Runs.ToArrays();
        SortedRun[] ofGroup = changed[job.Group] ?? [];
        Range place = job.PlaceIn(ofGroup);
        if (place.Equals(default))
        {
            return false; // an input went with a deleted range: the output is dropped
        }

        changed[job.Group] =
        [
            .. ofGroup[..place.Start],
            .. left,
            .. output is null ? [] : (ReadOnlySpan<SortedRun>)[output],
            .. ofGroup[place.End..],
        ];
        merge.Install(changed);
        return true;
    }

    private void Count(CompactionPart part, CompactionMerge merge)
    {
        _context.Counters.LinkedFiles += part.Linked.Count;
        _context.Counters.Compactions += part.Linked.Count > 0 ? 0 : 1;
        _context.Counters.CompactedBytes += merge.Bytes;
    }

    private bool MayLink(byte group, RunEntry file) =>
        file.From.IsEmpty
        && file.Summary.FileBytes >= _context.Options.RunBytes / LinkedShareOfRun
        && file.Summary.Tombstones * 2 <= file.Summary.Rows
        && !IsMostlyStale(group, file);

    private bool IsMostlyStale(byte group, RunEntry file)
    {
        if (!_staleFiles.TryGetValue(file.Summary.FileId, out bool isStale))
        {
            _staleFiles[file.Summary.FileId] = isStale = FileRewrite.IsMostlyStale(_context, _none, group, file);
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
