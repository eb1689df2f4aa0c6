namespace Rookery.Documents.Attachments;

/// <summary>
/// The contents that are missing or cannot be read, as scrubs and reads found them. Each is reported once, until it is
/// whole again or no longer needed. Thread-safe.
/// </summary>
/// <param name="troubleFound">Receives a sentence about each content that is reported.</param>
/// <param name="endLease">Ends the lease of a content, because a damaged content is not durable.</param>
internal sealed class ContentTroubles(Action<string>? troubleFound, Action<ContentPlace> endLease)
{
    private const int MaxSentences = 1000;

    private readonly Lock _gate = new();

    // All contents, also those beyond the limit of sentences, so that no damaged copy counts as durable.
    private readonly HashSet<ContentPlace> _places = [];
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
            return _places.Contains(place);
        }
    }

    /// <summary>Reports a content that cannot be read.</summary>
    public void Add(ContentPlace place, string sentence)
    {
        bool isReported;
        lock (_gate)
        {
            if (!_places.Add(place))
            {
                return;
            }

            _hasAny = true;
            isReported = _sentences.Count < MaxSentences;
            if (isReported)
            {
                _sentences.Add(place, sentence);
            }
        }

        endLease(place);
        if (isReported)
        {
            troubleFound?.Invoke(sentence + " Upload the same file again, or restore a backup.");
        }
    }

    /// <summary>Forgets a content that was read whole, written again, or is no longer needed.</summary>
    public void Remove(ContentPlace place)
    {
        lock (_gate)
        {
            _places.Remove(place);
            _sentences.Remove(place);
            _hasAny = _places.Count > 0;
        }
    }

    /// <summary>Returns the places of the contents.</summary>
    public IReadOnlyList<ContentPlace> Places
    {
        get
        {
            lock (_gate)
            {
                return [.. _places];
            }
        }
    }
}
