using System.Globalization;
using System.Text;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// How long the parts of one query took, one after the other, its client not waited for. Not thread-safe.
/// </summary>
internal sealed class QueryTimings
{
    private readonly List<(string Part, long Milliseconds)>? _parts;
    private readonly TimeProvider _time;
    private long _begun;
    private long _paused;
    private long _last;

    /// <summary>The first part begins.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="begun">The timestamp of the beginning.</param>
    /// <param name="areShown">Whether the answer shows the parts; else only all of them count.</param>
    public QueryTimings(TimeProvider time, long begun, bool areShown)
    {
        (_time, _begun, _last) = (time, begun, begun);
        _parts = areShown ? [] : null;
    }

    /// <summary>The time since the beginning, in milliseconds.</summary>
    public long TotalMilliseconds => (long)_time.GetElapsedTime(_begun).TotalMilliseconds;

    /// <summary>What passes from here to <see cref="Resume"/> belongs to no part.</summary>
    public void Pause() => _paused = _time.GetTimestamp();

    /// <summary>Goes on.</summary>
    public void Resume()
    {
        long waited = _time.GetTimestamp() - _paused;
        _begun += waited;
        _last += waited;
    }

    /// <summary>A part ends here.</summary>
    public void End(string part)
    {
        if (_parts is null)
        {
            return;
        }

        long now = _time.GetTimestamp();
        long took = (long)_time.GetElapsedTime(_last, now).TotalMilliseconds;

        // A query whose index was reset chooses again.
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

    /// <summary>As RavenDB's clients read it.</summary>
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
