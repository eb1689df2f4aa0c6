using Microsoft.Extensions.Logging;

namespace Rookery.Server.Support;

/// <summary>
/// The last lines of the log, in bounded memory: whoever cannot reach the machine's journal reads them through the
/// node. Secrets do not get into it. Thread-safe.
/// </summary>
/// <param name="mostLines">How many lines are kept.</param>
/// <param name="mostBytes">What they may take in memory, about.</param>
public sealed class LogRing(int mostLines = LogRing.DefaultLines, int mostBytes = LogRing.DefaultBytes)
{
    /// <summary>How many lines are kept where nothing else is said.</summary>
    public const int DefaultLines = 2000;

    private const int DefaultBytes = 1 << 20;

    // A fault's stack is the longest that is worth keeping.
    private const int MostCharacters = 8 << 10;
    private const int LineOverheadBytes = 64;

    // What is looked through for secrets at most. A secret that is cut off at its end is not known for one any more, so
    // what stands there is left out, whatever was taken out before it.
    private const int MostLooked = 2 * MostCharacters;
    private const int LongestSecret = 1 << 10;

    private readonly Lock _access = new();
    private readonly Queue<LogLine> _lines = new();
    private long _sequence;
    private long _bytes;

    /// <summary>What may not stand in it.</summary>
    public SecretFilter Secrets { get; } = new();

    /// <summary>Adds a line; the oldest go when there is no room.</summary>
    public void Add(DateTimeOffset time, LogLevel level, EventId id, string text)
    {
        string clean = CleanAndCut(text);
        lock (_access)
        {
            _lines.Enqueue(new LogLine(++_sequence, time, level, id.Id, clean));
            _bytes += BytesOf(clean);
            while (_lines.Count > mostLines || (_bytes > mostBytes && _lines.Count > 1))
            {
                _bytes -= BytesOf(_lines.Dequeue().Text);
            }
        }
    }

    /// <summary>Lines in the order in which they came: the first after a number, or the last of all.</summary>
    /// <param name="after">The number of the last line that is known; null for none.</param>
    /// <param name="limit">How many at most.</param>
    public IReadOnlyList<LogLine> Read(long? after, int limit)
    {
        lock (_access)
        {
            return after is { } known
                ? [.. _lines.SkipWhile(line => line.Sequence <= known).Take(limit)]
                : [.. _lines.Skip(Math.Max(0, _lines.Count - limit))];
        }
    }

    private string CleanAndCut(string text)
    {
        bool isCut = text.Length > MostLooked;
        string clean = Secrets.Clean(isCut ? text[..MostLooked] : text);
        int most = Math.Min(MostCharacters, isCut ? Math.Max(0, clean.Length - LongestSecret) : clean.Length);
        return most == clean.Length ? clean : string.Concat(clean.AsSpan(0, most), " …");
    }

    private static long BytesOf(string text) => (2L * text.Length) + LineOverheadBytes;
}

/// <summary>A line of the log.</summary>
/// <param name="Sequence">Its number since the process began, from 1.</param>
/// <param name="Time">When it was written, by this machine's clock.</param>
/// <param name="Level">How grave it is.</param>
/// <param name="EventId">The number of its kind; 0 for none.</param>
/// <param name="Text">What it says.</param>
public sealed record LogLine(long Sequence, DateTimeOffset Time, LogLevel Level, int EventId, string Text);
