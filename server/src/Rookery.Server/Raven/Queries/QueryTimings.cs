using System.Globalization;
using System.Text;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Measures the parts of one query, which follow each other. <see cref="Pause"/> excludes the time in which the client
/// reads. Not thread-safe.
/// </summary>
internal sealed class QueryTimings
{
    private readonly List<(string Part, long Milliseconds)>? _parts;
    private readonly TimeProvider _time;
    private long _start;
    private long _pauseStart;
    private long _partStart;

    /// <summary>Begins the first part.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="start">Timestamp of the beginning.</param>
    /// <param name="recordsParts">Whether the time of each part is recorded; otherwise only the total is.</param>
    public QueryTimings(TimeProvider time, long start, bool recordsParts)
    {
        (_time, _start, _partStart) = (time, start, start);
        _parts = recordsParts ? [] : null;
    }

    /// <summary>
    /// The time since the beginning, in milliseconds. Rounded up as all times here, because clients take 0 for a time
    /// that was not measured.
    /// </summary>
    public long TotalMilliseconds => RoundUp(_time.GetElapsedTime(_start));

    /// <summary>Returns a time in whole milliseconds, rounded up.</summary>
    public static long RoundUp(TimeSpan time) => (long)Math.Ceiling(time.TotalMilliseconds);

    /// <summary>Stops the clock until <see cref="Resume"/>.</summary>
    public void Pause() => _pauseStart = _time.GetTimestamp();

    /// <summary>Continues after <see cref="Pause"/>.</summary>
    public void Resume()
    {
        long paused = _time.GetTimestamp() - _pauseStart;
        _start += paused;
        _partStart += paused;
    }

    /// <summary>Ends the current part under a name, and begins the next.</summary>
    public void EndPart(string part)
    {
        if (_parts is null)
        {
            return;
        }

        long now = _time.GetTimestamp();
        long milliseconds = RoundUp(_time.GetElapsedTime(_partStart, now));

        // A part can repeat: a query whose index was reset chooses an index again.
        int index = _parts.FindIndex(measured => string.Equals(measured.Part, part, StringComparison.Ordinal));
        if (index < 0)
        {
            _parts.Add((part, milliseconds));
        }
        else
        {
            _parts[index] = (part, _parts[index].Milliseconds + milliseconds);
        }

        _partStart = now;
    }

    /// <summary>Returns the timings as RavenDB's clients read them.</summary>
    public string ToJson()
    {
        var json = new StringBuilder();
        json.Append(CultureInfo.InvariantCulture, $"{{\"DurationInMs\":{TotalMilliseconds},\"Timings\":{{");
        for (int i = 0; i < _parts?.Count; i++)
        {
            json.Append(
                CultureInfo.InvariantCulture,
                $"{(i == 0 ? "" : ",")}\"{_parts[i].Part}\":{{\"DurationInMs\":{_parts[i].Milliseconds}"
                    + $",\"Timings\":null}}"
            );
        }

        return json.Append("}}").ToString();
    }
}
