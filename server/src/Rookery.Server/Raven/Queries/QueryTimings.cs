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
    private long _begun;
    private long _paused;
    private long _last;

    /// <summary>Begins the first part.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="begun">Timestamp of the beginning.</param>
    /// <param name="areShown">Whether the answer shows each part; otherwise only the total is measured.</param>
    public QueryTimings(TimeProvider time, long begun, bool areShown)
    {
        (_time, _begun, _last) = (time, begun, begun);
        _parts = areShown ? [] : null;
    }

    /// <summary>The time since the beginning, in milliseconds.</summary>
    public long TotalMilliseconds => (long)_time.GetElapsedTime(_begun).TotalMilliseconds;

    /// <summary>Stops the clock until <see cref="Resume"/>.</summary>
    public void Pause() => _paused = _time.GetTimestamp();

    /// <summary>Continues after <see cref="Pause"/>.</summary>
    public void Resume()
    {
        long waited = _time.GetTimestamp() - _paused;
        _begun += waited;
        _last += waited;
    }

    /// <summary>Ends the current part under a name, and begins the next.</summary>
    public void End(string part)
    {
        if (_parts is null)
        {
            return;
        }

        long now = _time.GetTimestamp();
        long took = (long)_time.GetElapsedTime(_last, now).TotalMilliseconds;

        // A part can repeat: a query whose index was reset chooses an index again.
        int known = _parts.FindIndex(one => string.Equals(one.Part, part, StringComparison.Ordinal));
        if (known < 0)
        {
            _parts.Add((part, took));
        }
        else
        {
            _parts[known] = (part, _parts[known].Milliseconds + took);
        }

        _last = now;
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
