using System.Globalization;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Logs connections of strangers: nodes without a proven identity. An attacker could flood the log, so at most
/// <see cref="MaxSentencesPerMinute"/> sentences are logged a minute. Thread-safe.
/// </summary>
/// <param name="log">Receives the sentences.</param>
/// <param name="time">The clock.</param>
internal sealed class UnknownPeerLog(Action<string> log, TimeProvider time)
{
    /// <summary>The maximum number of sentences a minute, for all strangers together.</summary>
    internal const int MaxSentencesPerMinute = 10;

    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _began = time.GetTimestamp();
    private int _logged;
    private int _notLogged;

    /// <summary>
    /// Logs a sentence, or only counts it when this minute's limit is reached. The count is logged with the first
    /// sentence of a later minute.
    /// </summary>
    public void Report(string sentence)
    {
        int suppressed = 0;
        lock (_gate)
        {
            if (time.GetElapsedTime(_began) >= Window)
            {
                suppressed = _notLogged;
                _notLogged = 0;
                _logged = 0;
                _began = time.GetTimestamp();
            }

            if (_logged == MaxSentencesPerMinute)
            {
                _notLogged++;
                return;
            }

            _logged++;
        }

        log(
            suppressed == 0
                ? sentence
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"{sentence} There were {suppressed} more such attempts before."
                )
        );
    }
}
