using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>The damage found since the engine was opened. Each damaged place is listed once. Thread-safe.</summary>
internal sealed class DamageRegistry(Action<DamageEvent> damageFound)
{
    private readonly Lock _gate = new();
    private readonly List<DamageEvent> _events = [];
    private int _count;

    /// <summary>Whether no damage was found.</summary>
    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>The damage found.</summary>
    public IReadOnlyList<DamageEvent> Events
    {
        get
        {
            lock (_gate)
            {
                return [.. _events];
            }
        }
    }

    /// <summary>
    /// Returns known damage that may affect keys in [from, toExclusive) of a group's tables; null if there is none.
    /// <paramref name="tables"/> are the names from <see cref="TableMap.NamesOf"/>.
    /// </summary>
    public DamageEvent? Find(string tables, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive)
    {
        lock (_gate)
        {
            foreach (DamageEvent known in _events)
            {
                if (
                    string.Equals(known.Tables, tables, StringComparison.Ordinal)
                    && known.ToExclusive.Span.SequenceCompareTo(from) > 0
                    && known.FirstKey.Span.SequenceCompareTo(toExclusive) < 0
                )
                {
                    return known;
                }
            }
        }

        return null;
    }

    /// <summary>Registers damage of a run and returns the exception to throw for it.</summary>
    public DamagedException Register(RunDamage damage, RunEntry file, string tables)
    {
        DamageEvent found = damage.WithFile(file, tables).ToEvent();
        bool isNew;
        lock (_gate)
        {
            // A retired file is no longer part of the store, so its damage concerns only this reader.
            isNew =
                file.Reader?.IsRetired != true
                && !_events.Exists(known =>
                    known.Offset == found.Offset && string.Equals(known.File, found.File, StringComparison.Ordinal)
                );
            if (isNew)
            {
                _events.Add(found);
                Volatile.Write(ref _count, _events.Count);
            }
        }

        if (isNew)
        {
            damageFound(found);
        }

        return new DamagedException(found);
    }

    /// <summary>Removes the damage of a file that is no longer in use.</summary>
    public void Forget(string path)
    {
        lock (_gate)
        {
            _events.RemoveAll(known => string.Equals(known.File, path, StringComparison.Ordinal));
            Volatile.Write(ref _count, _events.Count);
        }
    }
}
