using Rookery.Platform;

namespace Rookery.Storage.State;

/// <summary>
/// The sorted runs of every group, newest first within a group. Immutable and reference counted; holds a reference to
/// each reader.
/// </summary>
internal sealed class RunSet
{
    private readonly SortedRun[]?[] _byGroup;
    private int _references = 1;

    /// <summary>Creates a set and acquires references to its readers.</summary>
    public RunSet(SortedRun[]?[] byGroup)
    {
        Invariant.Holds(byGroup.Length == GroupLimit, "a run set has a place for each group");
        _byGroup = byGroup;
        MostOfOneGroup = byGroup.Max(static runs => runs?.Length ?? 0);
        foreach (RunEntry file in Files())
        {
            file.Reader?.Acquire();
        }
    }

    /// <summary>Number of possible groups.</summary>
    public const int GroupLimit = 256;

    /// <summary>Number of sorted runs of the group that has most.</summary>
    public int MostOfOneGroup { get; }

    /// <summary>Returns the sorted runs of a group, newest first.</summary>
    public ReadOnlySpan<SortedRun> Of(byte group) => _byGroup[group];

    /// <summary>Returns a copy of the sorted runs by group, to create another set from it.</summary>
    public SortedRun[]?[] ToArrays() => [.. _byGroup.Select(runs => (SortedRun[]?)runs?.Clone())];

    /// <summary>Returns all files, group by group, newest sorted run first.</summary>
    public IEnumerable<RunEntry> Files() =>
        _byGroup.Where(runs => runs is not null).SelectMany(runs => runs!).SelectMany(run => run.Files);

    /// <summary>Adds a reference.</summary>
    public void Acquire() =>
        Invariant.Holds(Interlocked.Increment(ref _references) > 1, "a run set that is in use is acquired");

    /// <summary>Releases a reference; the last release releases the readers.</summary>
    public void Release()
    {
        int remaining = Interlocked.Decrement(ref _references);
        Invariant.Holds(remaining >= 0, "a run set is released once per reference");
        if (remaining == 0)
        {
            foreach (RunEntry file in Files())
            {
                file.Reader?.Release();
            }
        }
    }
}
