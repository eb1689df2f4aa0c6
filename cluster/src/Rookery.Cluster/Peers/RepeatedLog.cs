namespace Rookery.Cluster.Peers;

/// <summary>
/// Tells a sentence at most once a minute: attempts are repeated every two seconds, and strangers may knock as often as
/// they like. Thread-safe.
/// </summary>
internal sealed class RepeatedLog(Action<string> log, TimeProvider time)
{
    private const int MostSentences = 256;
    private static readonly TimeSpan Silence = TimeSpan.FromMinutes(1);
    private readonly Lock _gate = new();
    private readonly Dictionary<string, long> _told = new(StringComparer.Ordinal);

    /// <summary>Tells it, unless it was told within the last minute.</summary>
    public void Tell(string sentence)
    {
        lock (_gate)
        {
            if (_told.TryGetValue(sentence, out long at) && time.GetElapsedTime(at) < Silence)
            {
                return;
            }

            if (_told.Count >= MostSentences)
            {
                _told.Clear();
            }

            _told[sentence] = time.GetTimestamp();
        }

        log(sentence);
    }
}
