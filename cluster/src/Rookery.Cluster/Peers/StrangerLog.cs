using System.Globalization;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Tells of who knocked and proved nobody: strangers choose what they say and how often, so it is little, and some of
/// it at most. Thread-safe.
/// </summary>
/// <param name="log">Told in sentences.</param>
/// <param name="time">The clock.</param>
internal sealed class StrangerLog(Action<string> log, TimeProvider time)
{
    /// <summary>Sentences in a minute, of all strangers together.</summary>
    internal const int MostSentences = 10;

    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _began = time.GetTimestamp();
    private int _told;
    private int _untold;

    /// <summary>
    /// Tells it, unless enough was told within this minute. What was not told is counted, and the count told with the
    /// first of a later minute.
    /// </summary>
    public void Tell(string sentence)
    {
        int before = 0;
        lock (_gate)
        {
            if (time.GetElapsedTime(_began) >= Window)
            {
                (before, _began, _told, _untold) = (_untold, time.GetTimestamp(), 0, 0);
            }

            if (++_told > MostSentences)
            {
                _untold++;
                return;
            }
        }

        log(
            before == 0
                ? sentence
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"{sentence} There were {before} more such attempts before."
                )
        );
    }
}
