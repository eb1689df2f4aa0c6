namespace Rookery.Cluster.Peers;

/// <summary>
/// Logs each sentence at most once a minute, because failed connection attempts repeat every two seconds. Thread-safe.
/// </summary>
internal sealed class RepeatedLog(Action<string> log, TimeProvider time)
{
    private const int MaxSentences = 256;
    private static readonly TimeSpan Silence = TimeSpan.FromMinutes(1);
    private readonly Lock _gate = new();
    private readonly Dictionary<string, long> _told = new(StringComparer.Ordinal);

    /// <summary>Logs a sentence, unless it was logged within the last minute.</summary>
    public void Tell(string sentence)
    {
        lock (_gate)
        {
            if (_told.TryGetValue(sentence, out long at) && time.GetElapsedTime(at) < Silence)
            {
                return;
            }

            if (_told.Count >= MaxSentences)
            {
                _told.Clear();
            }

            _told[sentence] = time.GetTimestamp();
        }

        log(sentence);
    }
}
