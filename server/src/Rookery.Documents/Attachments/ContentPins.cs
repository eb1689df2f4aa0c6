namespace Rookery.Documents.Attachments;

/// <summary>
/// The contents that must not be deleted although no row names them yet. A content is pinned while a command that names
/// it is proposed, leased while another member is about to send such a command, and kept while an entry of this node's
/// log names it that is not applied yet. Used under the lock of <see cref="ContentGarbage"/>.
/// </summary>
/// <param name="time">The clock, for leases.</param>
internal sealed class ContentPins(TimeProvider time)
{
    // A lease lasts longer than a batch of contents needs from its first offer to its entry. A content that is deleted
    // earlier is requested again.
    private static readonly TimeSpan LeaseTime = TimeSpan.FromMinutes(2);

    private readonly Dictionary<ContentPlace, int> _pins = [];
    private readonly Dictionary<ContentPlace, int> _durable = []; // number of pins whose content is durable
    private readonly Dictionary<ContentPlace, long> _leases = []; // until this timestamp
    private readonly Dictionary<ContentPlace, long> _kept = []; // until this index is applied

    /// <summary>Number of pinned contents.</summary>
    public int Count => _pins.Count;

    /// <summary>Adds a pin.</summary>
    public void Pin(ContentPlace place) => _pins[place] = _pins.GetValueOrDefault(place) + 1;

    /// <summary>Removes a pin; returns whether it was the last one.</summary>
    public bool Unpin(ContentPlace place)
    {
        int left = _pins[place] - 1;
        if (left > 0)
        {
            _pins[place] = left;
            return false;
        }

        return _pins.Remove(place);
    }

    /// <summary>Records that the content of a pin is durable. A pin alone only prevents the deletion.</summary>
    public void BeginDurable(ContentPlace place) => _durable[place] = _durable.GetValueOrDefault(place) + 1;

    /// <summary>Ends what <see cref="BeginDurable"/> recorded. The pin stays.</summary>
    public void EndDurable(ContentPlace place)
    {
        if (--_durable[place] == 0)
        {
            _durable.Remove(place);
        }
    }

    /// <summary>Begins or renews a lease of a durable content.</summary>
    public void Lease(ContentPlace place) =>
        _leases[place] = time.GetTimestamp() + (long)(LeaseTime.TotalSeconds * time.TimestampFrequency);

    /// <summary>Ends a lease; returns whether there was one.</summary>
    public bool EndLease(ContentPlace place) => _leases.Remove(place);

    /// <summary>Keeps a content until the entry at an index is applied.</summary>
    public void Keep(ContentPlace place, long index) => _kept[place] = Math.Max(index, _kept.GetValueOrDefault(place));

    /// <summary>Returns whether a content is known to be durable.</summary>
    public bool IsDurable(ContentPlace place) => _durable.ContainsKey(place) || _leases.ContainsKey(place);

    /// <summary>Returns whether a content must not be deleted even if no row names it.</summary>
    public bool IsProtected(ContentPlace place, long applied) =>
        _pins.ContainsKey(place)
        || _leases.ContainsKey(place)
        || (_kept.TryGetValue(place, out long index) && index > applied);

    /// <summary>Removes what has ended: leases by time, kept contents by the applied index.</summary>
    /// <param name="applied">The applied index.</param>
    /// <returns>The contents; null for none.</returns>
    public List<ContentPlace>? TakeEnded(long applied)
    {
        List<ContentPlace>? ended = null;
        long now = time.GetTimestamp();
        Take(_leases, until => until <= now, ref ended);
        Take(_kept, index => index <= applied, ref ended);
        return ended;
    }

    private static void Take(Dictionary<ContentPlace, long> from, Func<long, bool> hasEnded, ref List<ContentPlace>? to)
    {
        if (from.Count == 0)
        {
            return;
        }

        foreach (var (place, end) in from)
        {
            if (hasEnded(end))
            {
                from.Remove(place);
                (to ??= []).Add(place);
            }
        }
    }
}
