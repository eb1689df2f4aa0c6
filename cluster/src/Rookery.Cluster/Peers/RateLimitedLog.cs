namespace Rookery.Cluster.Peers;

/// <summary>
/// Logs each sentence at most once a minute, because failed connection attempts repeat every two seconds. Thread-safe.
/// </summary>
internal sealed class RateLimitedLog(Action<string> log, TimeProvider time)
{
    private const int MaxSentences = 256;
    private static readonly TimeSpan RepeatInterval = TimeSpan.FromMinutes(1);
    private readonly Lock _gate = new();
    private readonly Dictionary<string, long> _loggedAt = new(StringComparer.Ordinal);

    /// <summary>Logs a sentence, unless it was logged within the last minute.</summary>
    public void Report(string sentence)
    {
        lock (_gate)
        {
            if (_loggedAt.TryGetValue(sentence, out long at) && time.GetElapsedTime(at) < RepeatInterval)
            {
                return;
            }

            if (_loggedAt.Count >= MaxSentences)
            {
                // Bounds the memory. Sentences may then be repeated earlier.
                _loggedAt.Clear();
            }

            _loggedAt[sentence] = time.GetTimestamp();
        }

        log(sentence);
    }
}
