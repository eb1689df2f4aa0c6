namespace Rookery.Simulation;

/// <summary>
/// One change of names in a directory. A rename within it removes and adds at once; one across directories is a change
/// in each.
/// </summary>
internal sealed class NameChange(int operation, string? removed, string? added, SimulatedNode? node)
{
    internal int Operation { get; } = operation;

    internal string? Removed { get; } = removed;

    internal string? Added { get; } = added;

    internal SimulatedNode? Node { get; } = node;

    /// <summary>
    /// The other directory's change without which this one cannot have happened (a file that moved is never lost in
    /// between).
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

    /// <summary>The changes that need another directory's.</summary>
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

    internal void Sync(int operation) => _syncs.Add(operation);

    /// <summary>How many changes a power cut leaves, as far as this directory alone decides.</summary>
    internal int ChangesAfter(PowerLoss loss)
    {
        int sync = _syncs.FindLast(operation => operation <= loss.Operation);
        int durable = CountUntil(sync);
        int known = CountUntil(loss.Operation);
        return durable
            + (known == durable ? 0 : loss.PickNames(Id, known - durable, i => _changes[durable + i].Operation));
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
