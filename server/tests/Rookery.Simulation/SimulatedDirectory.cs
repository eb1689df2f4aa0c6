namespace Rookery.Simulation;

/// <summary>
/// One change of names in a directory. A rename within it is one change, which removes and adds a name; a rename to
/// another directory is one change in each.
/// </summary>
/// <param name="operation">The number of the disk operation that made the change.</param>
/// <param name="removed">The name that is removed; null if none is.</param>
/// <param name="added">The name that is added; null if none is.</param>
/// <param name="node">What <paramref name="added"/> names; null if no name is added.</param>
internal sealed class NameChange(int operation, string? removed, string? added, SimulatedNode? node)
{
    internal int Operation { get; } = operation;

    internal string? Removed { get; } = removed;

    internal string? Added { get; } = added;

    internal SimulatedNode? Node { get; } = node;

    /// <summary>
    /// For the removal of a moved file: the addition in the other directory. If the removal survives a power cut, the
    /// addition survives too, so the file is never lost. Null for other changes.
    /// </summary>
    internal (SimulatedDirectory Directory, NameChange Change)? Needs { get; init; }

    internal void ApplyTo(Dictionary<string, SimulatedNode> names)
    {
        if (Removed is not null)
        {
            names.Remove(Removed);
        }

        if (Added is not null)
        {
            names[Added] = Node!;
        }
    }
}

/// <summary>
/// The names of a simulated directory, with all changes since its disk was made and which of them were synced.
/// </summary>
internal sealed class SimulatedDirectory(int id) : SimulatedNode(id)
{
    private readonly List<NameChange> _changes = [];
    private readonly List<int> _syncs = [];

    /// <summary>Names before the first change.</summary>
    private readonly Dictionary<string, SimulatedNode> _originalNames = new(StringComparer.Ordinal);

    /// <summary>Whether it lies on the second device (<see cref="SimulatedDisk.WithSecondDevice"/>).</summary>
    internal bool IsOnSecondDevice { get; init; }

    /// <summary>Names now.</summary>
    internal Dictionary<string, SimulatedNode> Names { get; } = new(StringComparer.Ordinal);

    /// <summary>The changes that need a change of another directory, with their index among all changes.</summary>
    internal List<(int Index, NameChange Change)> Moves { get; } = [];

    /// <summary>Adds a name that is durable from the beginning.</summary>
    internal void AddOriginal(string name, SimulatedNode node)
    {
        _originalNames.Add(name, node);
        Names.Add(name, node);
    }

    internal void Change(NameChange change)
    {
        if (change.Needs is not null)
        {
            Moves.Add((_changes.Count, change));
        }

        _changes.Add(change);
        change.ApplyTo(Names);
    }

    internal int IndexOf(NameChange change) => _changes.IndexOf(change);

    /// <summary>Records that the disk operation with this number synced the directory.</summary>
    internal void Sync(int operation) => _syncs.Add(operation);

    /// <summary>
    /// Returns how many of the changes, in their order, survive a power cut, without regard to
    /// <see cref="NameChange.Needs"/>.
    /// </summary>
    internal int ChangesAfter(PowerLoss loss)
    {
        int lastSync = _syncs.FindLast(operation => operation <= loss.Operation); // 0 if there is none
        int durable = CountUntil(lastSync);
        int made = CountUntil(loss.Operation);
        return durable
            + (made == durable ? 0 : loss.PickNames(Id, made - durable, i => _changes[durable + i].Operation));
    }

    /// <summary>The names after the first <paramref name="count"/> changes.</summary>
    internal Dictionary<string, SimulatedNode> NamesAfter(int count)
    {
        var names = new Dictionary<string, SimulatedNode>(_originalNames, StringComparer.Ordinal);
        for (int i = 0; i < count; i++)
        {
            _changes[i].ApplyTo(names);
        }

        return names;
    }

    // The number of changes that were made up to and including a disk operation.
    private int CountUntil(int operation)
    {
        int count = _changes.Count;
        while (count > 0 && _changes[count - 1].Operation > operation)
        {
            count--;
        }

        return count;
    }
}
