namespace Rookery.Storage;

/// <summary>The damaged places that were found since the engine was opened, each once. Thread-safe.</summary>
internal sealed class DamageRegistry(Action<DamageEvent> found)
{
    private readonly Lock gate = new();
    private readonly List<DamageEvent> events = [];

    /// <summary>What was found.</summary>
    public IReadOnlyList<DamageEvent> Events
    {
        get
        {
            lock (gate)
            {
                return [.. events];
            }
        }
    }

    /// <summary>Notes damage of a run and gives the exception that says so.</summary>
    public DamagedException Note(RunDamage damage, RunEntry file, string tables)
    {
        var noted = new DamageEvent(
            damage.Path,
            damage.Offset,
            tables,
            damage.From.IsEmpty ? file.FirstKey.ToArray() : damage.From,
            damage.ToExclusive.IsEmpty ? file.Summary.LargestKey : damage.ToExclusive,
            damage.Reason);
        bool isNew;
        lock (gate)
        {
            isNew = !events.Exists(known => known.Offset == noted.Offset && string.Equals(known.File, noted.File, StringComparison.Ordinal));
            if (isNew)
            {
                events.Add(noted);
            }
        }

        if (isNew)
        {
            found(noted);
        }

        return new DamagedException(noted);
    }

    /// <summary>The exception for damage that was noted before.</summary>
    public DamagedException Of(RunDamage damage)
    {
        lock (gate)
        {
            return new DamagedException(events.First(known => known.Offset == damage.Offset && string.Equals(known.File, damage.Path, StringComparison.Ordinal)));
        }
    }

    /// <summary>Forgets the damage of a file that is no longer in use.</summary>
    public void Forget(string path)
    {
        lock (gate)
        {
            events.RemoveAll(known => string.Equals(known.File, path, StringComparison.Ordinal));
        }
    }
}
