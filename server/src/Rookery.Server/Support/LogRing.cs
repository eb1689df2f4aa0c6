using Microsoft.Extensions.Logging;
using Rookery.Json;

namespace Rookery.Server.Support;

/// <summary>
/// The last lines of the log, in bounded memory, for administrators without access to the node's machine. Secrets are
/// removed before a line is stored. Thread-safe.
/// </summary>
/// <param name="mostLines">Maximum number of lines.</param>
/// <param name="mostBytes">Approximate memory limit in bytes.</param>
public sealed class LogRing(int mostLines = LogRing.DefaultLines, int mostBytes = LogRing.DefaultBytes)
{
    /// <summary>Default of the maximum number of lines.</summary>
    public const int DefaultLines = 2000;

    private const int DefaultBytes = 1 << 20;

    // Longest line. Only stack traces are nearly as long.
    private const int MaxCharacters = 8 << 10;
    private const int LineOverheadBytes = 64;

    // Longest text that is searched for secrets; a longer one is shortened first. A secret that crosses the cut would
    // not be recognised, so the last MaxSecretCharacters before the cut are dropped.
    private const int MaxSearchedCharacters = 2 * MaxCharacters;
    private const int MaxSecretCharacters = 1 << 10;

    private readonly Lock _gate = new();
    private readonly Queue<LogLine> _lines = new();
    private long _sequence;
    private long _bytes;

    /// <summary>The secrets to remove.</summary>
    public SecretFilter Secrets { get; } = new();

    /// <summary>Adds a line; drops the oldest lines beyond the limits.</summary>
    public void Add(DateTimeOffset time, LogLevel level, EventId id, string text)
    {
        string clean = CleanAndCut(text);
        lock (_gate)
        {
            _lines.Enqueue(new LogLine(++_sequence, time, level, id.Id, clean));
            _bytes += BytesOf(clean);
            while (_lines.Count > mostLines || (_bytes > mostBytes && _lines.Count > 1))
            {
                _bytes -= BytesOf(_lines.Dequeue().Text);
            }
        }
    }

    /// <summary>
    /// Returns lines in order: the first ones after a number, or the last ones. A number that no line has yet is of an
    /// earlier start, whose numbers began at 1 too: then the last lines.
    /// </summary>
    /// <param name="after">Number of the last known line; null for none.</param>
    /// <param name="limit">Maximum number of lines.</param>
    public IReadOnlyList<LogLine> Read(long? after, int limit)
    {
        lock (_gate)
        {
            return after is { } known && known <= _sequence
                ? [.. _lines.SkipWhile(line => line.Sequence <= known).Take(limit)]
                : [.. _lines.Skip(Math.Max(0, _lines.Count - limit))];
        }
    }

    private string CleanAndCut(string text)
    {
        bool isCut = text.Length > MaxSearchedCharacters;
        string clean = Secrets.Clean(isCut ? text[..MaxSearchedCharacters] : text);
        int max = Math.Min(MaxCharacters, isCut ? Math.Max(0, clean.Length - MaxSecretCharacters) : clean.Length);
        return max == clean.Length ? clean : string.Concat(clean.AsSpan(0, ShortText.BoundaryAt(clean, max)), " …");
    }

    private static long BytesOf(string text) => (2L * text.Length) + LineOverheadBytes;
}

/// <summary>A line of the log.</summary>
/// <param name="Sequence">Number of the line in this process, from 1.</param>
/// <param name="Time">Time by this machine's clock.</param>
/// <param name="Level">Severity.</param>
/// <param name="EventId">Number of the line's event; 0 for none.</param>
/// <param name="Text">The message.</param>
public sealed record LogLine(long Sequence, DateTimeOffset Time, LogLevel Level, int EventId, string Text);
