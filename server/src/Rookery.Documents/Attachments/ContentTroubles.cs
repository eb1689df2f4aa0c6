namespace Rookery.Documents.Attachments;

/// <summary>
/// The contents that are missing or cannot be read, as scrubs and reads found them. Each is reported once, until it is
/// whole again or no longer needed. Thread-safe.
/// </summary>
/// <param name="troubleFound">Receives a sentence about each.</param>
/// <param name="endLease">Ends the lease of each: it is no durable content.</param>
internal sealed class ContentTroubles(Action<string>? troubleFound, Action<ContentPlace> endLease)
{
    private const int MaxKept = 1000;

    private readonly Lock _gate = new();
    private readonly Dictionary<ContentPlace, string> _sentences = [];
    private volatile bool _hasAny;

    /// <summary>A sentence about each content.</summary>
    public IReadOnlyList<string> Sentences
    {
        get
        {
            lock (_gate)
            {
                return _sentences.Count == 0 ? [] : [.. _sentences.Values];
            }
        }
    }

    /// <summary>Returns whether a content is missing or damaged, as far as known.</summary>
    public bool Has(ContentPlace place)
    {
        if (!_hasAny)
        {
            return false;
        }

        lock (_gate)
        {
            return _sentences.ContainsKey(place);
        }
    }

    /// <summary>Reports a content that cannot be read.</summary>
    public void Add(ContentPlace place, string sentence)
    {
        lock (_gate)
        {
            if (_sentences.Count == MaxKept || !_sentences.TryAdd(place, sentence))
            {
                return;
            }

            _hasAny = true;
        }

        endLease(place);
        troubleFound?.Invoke(sentence + " Upload the same file again, or restore a backup.");
    }

    /// <summary>Forgets a content that was read whole, written again, or is no longer needed.</summary>
    public void Remove(ContentPlace place)
    {
        lock (_gate)
        {
            _sentences.Remove(place);
            _hasAny = _sentences.Count > 0;
        }
    }

    /// <summary>Returns the places of the contents.</summary>
    public IReadOnlyList<ContentPlace> Places
    {
        get
        {
            lock (_gate)
            {
                return [.. _sentences.Keys];
            }
        }
    }
}
