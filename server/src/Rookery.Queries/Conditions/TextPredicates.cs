using System.Text.RegularExpressions;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>A pattern for texts. Thread-safe.</summary>
internal abstract class TextPattern
{
    /// <summary>The prefix of every text that matches; empty if there is none.</summary>
    public virtual ReadOnlySpan<byte> Prefix => [];

    /// <summary>Whether every text that begins with <see cref="Prefix"/> matches.</summary>
    public virtual bool IsPrefix => false;

    /// <summary>Returns whether a text matches.</summary>
    /// <param name="text">The text in the form that conditions compare, see <see cref="ScanWork.TextOf"/>.</param>
    /// <param name="work">The evaluation's limits and buffers.</param>
    public abstract bool Matches(ReadOnlySpan<byte> text, ScanWork work);
}

/// <summary>
/// Matches where a text among the values of a field matches a pattern. Values that are not texts never match.
/// </summary>
internal sealed class TextPredicate(FieldReader reader, TextPattern pattern, bool isExact) : Predicate
{
    public FieldReader Reader => reader;

    public TextPattern Pattern => pattern;

    public bool IsExact => isExact;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.CountBytes(document.Members.Length);
        var visitor = new Visitor(pattern, isExact, work);
        return !reader.Read(document, ref visitor);
    }

    private readonly struct Visitor(TextPattern pattern, bool isExact, ScanWork work) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json) =>
            json[0] != (byte)'"' || !pattern.Matches(work.TextOf(json, isExact), work);
    }
}

/// <summary>Matches texts with a given beginning.</summary>
internal sealed class BeginningPattern(byte[] beginning) : TextPattern
{
    public override ReadOnlySpan<byte> Prefix => beginning;

    public override bool IsPrefix => true;

    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => text.StartsWith(beginning);
}

/// <summary>Matches texts with a given end.</summary>
internal sealed class EndPattern(byte[] end) : TextPattern
{
    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => text.EndsWith(end);
}

/// <summary>Matches texts that contain a match of a regular expression, in time linear in the text.</summary>
internal sealed class RegexPattern : TextPattern
{
    /// <summary>Maximum characters of a pattern.</summary>
    public const int MaxCharacters = 1000;

    /// <summary>
    /// Maximum product of the counts in braces, because the automaton contains a counted part as often as its count.
    /// </summary>
    private const long MaxRepeats = 1_000;

    private static readonly TimeSpan MaxTime = TimeSpan.FromSeconds(1);

    private readonly Regex _regex;
    private readonly int _position;

    // Upper bound of the automaton's states at one time: the pattern's characters, multiplied by its counts.
    private readonly int _statesPerByte;

    public RegexPattern(string pattern, bool isExact, int position)
    {
        if (pattern.Length > MaxCharacters || Repeats(pattern) > MaxRepeats)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"A regular expression takes at most {MaxCharacters} characters, and counts in braces that "
                    + $"multiply to at most {MaxRepeats}.",
                position
            );
        }

        _position = position;
        _statesPerByte = (int)(Math.Max(pattern.Length, 1) * Repeats(pattern));
        try
        {
            _regex = new Regex(
                pattern,
                RegexOptions.NonBacktracking
                    | RegexOptions.CultureInvariant
                    | (isExact ? RegexOptions.None : RegexOptions.IgnoreCase),
                MaxTime
            );
        }
        catch (NotSupportedException)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'regex' with lookarounds, back references or conditions is not supported: it could take time "
                    + "without bound.",
                position
            );
        }
        catch (ArgumentException error)
        {
            throw new QueryException(QueryFault.Invalid, $"The regular expression is wrong: {error.Message}", position);
        }
    }

    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work)
    {
        work.CountBytes(text.Length, _statesPerByte);
        try
        {
            return _regex.IsMatch(work.CharactersOf(text));
        }
        catch (RegexMatchTimeoutException)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"The regular expression took more than {MaxTime.TotalSeconds} s on one text.",
                _position
            );
        }
    }

    /// <summary>
    /// Returns the product of the counts in braces; <see cref="MaxRepeats"/> + 1 if it is higher than the maximum.
    /// </summary>
    private static long Repeats(string pattern)
    {
        long product = 1;
        long number = 0;
        bool isCount = false;
        foreach (char character in pattern)
        {
            if (character == '{')
            {
                (isCount, number) = (true, 0);
            }
            else if (isCount && char.IsAsciiDigit(character))
            {
                number = Math.Min((number * 10) + (character - '0'), MaxRepeats + 1);
            }
            else if (isCount && character is ',' or '}')
            {
                isCount = character == ',';
                product = Math.Min(product * Math.Max(number, 1), MaxRepeats + 1);
                number = 0;
            }
        }

        return product;
    }
}
