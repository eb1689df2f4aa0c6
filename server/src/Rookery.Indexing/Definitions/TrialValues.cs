using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Json;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// The example values of a <see cref="ReduceTrial"/>, as JSON: first the kinds that every reduce is tried with, then
/// the kinds made of the literals of its text. A kind of a literal has few values: the literal, its prefixes and
/// extensions and its neighbours, so that the literal is the least or the greatest value of some rows.
/// </summary>
internal sealed class TrialValues
{
    /// <summary>Null. This constant and the following ones are positions in <see cref="Kinds"/>.</summary>
    public const int Nothing = 0;

    /// <summary>Whole numbers.</summary>
    public const int Number = 1;

    /// <summary>Texts.</summary>
    public const int Text = 3;

    /// <summary>Dates.</summary>
    public const int Date = 4;

    /// <summary>Null or numbers.</summary>
    public const int NumberOrNothing = 12;

    /// <summary>Texts of several words, for reduces that read parts of them.</summary>
    public const int LongText = 14;

    /// <summary>The number of kinds that every reduce is tried with.</summary>
    public const int Count = 15;

    /// <summary>
    /// The number of values of a literal's kind. A prime, so that each step through the values reaches all.
    /// </summary>
    public const int LiteralValues = 5;

    private const int TextList = 5;
    private const int NumberList = 6;
    private const int ObjectList = 7;
    private const int Object = 8;
    private const int Boolean = 9;
    private const int Span = 10;

    private const int MaxNames = 64;
    private const int MaxDeepNames = 16;
    private const int MaxConstants = 12;
    private const int MaxLiteralLength = 256;
    private const int MaxTextLength = 1024;
    private const int MaxListLength = 40;

    private readonly List<(int Base, string[] Values)> _literals = [];
    private readonly List<(int Least, int Greatest)> _ends = [];
    private readonly HashSet<string> _texts;
    private readonly string[] _members;

    /// <summary>Makes the values for the text of a reduce.</summary>
    /// <param name="text">The text.</param>
    /// <param name="isCSharp">Whether it is C#, not JavaScript.</param>
    public TrialValues(string text, bool isCSharp)
    {
        var tokens = new Lexer(text, isCSharp).ReadAll();
        IEnumerable<Token> Of(TokenKind kind, int max) =>
            tokens
                .Where(token => token.Kind == kind)
                .DistinctBy(static token => token.Text, StringComparer.Ordinal)
                .Take(max);

        double[] numbers = [.. Of(TokenKind.Number, MaxConstants).Select(static token => token.Number)];
        string[] texts = [.. TextsOf(tokens).Distinct(StringComparer.Ordinal).Take(MaxConstants)];
        _texts = [.. texts.Select(Quoted)];
        _members =
        [
            .. tokens
                .Where(
                    (token, at) =>
                        token.Kind == TokenKind.Name && at > 0 && (tokens[at - 1].Is(".") || tokens[at - 1].Is("?."))
                )
                .Select(static token => token.Text)
                .Distinct(StringComparer.Ordinal)
                .Take(MaxNames),
        ];
        string[] names = [.. Of(TokenKind.Name, MaxNames).Select(static token => token.Text)];
        string[][] kinds = KindsOf(numbers, texts, names);
        AddNullsAndBooleans(kinds);
        for (int index = 0; index < texts.Length; index++)
        {
            AddText(texts[index]);
            if (index + 1 < texts.Length)
            {
                AddPair(texts[index], texts[index + 1]);
            }
        }

        foreach (double number in numbers.Where(static number => double.IsFinite(number) && Math.Abs(number) < 1e15))
        {
            AddNumber(number);
        }

        foreach (var date in DatesOf(tokens).Distinct().Take(MaxConstants))
        {
            AddDate(date, "yyyy-MM-ddTHH:mm:ss", "");
        }

        Kinds = [.. kinds, .. _literals.Select(static literal => literal.Values)];
    }

    /// <summary>The values of each kind, as JSON.</summary>
    public string[][] Kinds { get; }

    /// <summary>
    /// For each literal text, the kind in which it is the least value and the kind in which it is the greatest.
    /// </summary>
    public IReadOnlyList<(int Least, int Greatest)> Ends => _ends;

    /// <summary>Returns whether the values of a kind are objects or lists of objects.</summary>
    public bool HasObjects(int kind) => BaseOf(kind) is Object or ObjectList;

    /// <summary>Returns the kind of which a literal's kind is a special case.</summary>
    public int BaseOf(int kind) => kind < Count ? kind : _literals[kind - Count].Base;

    /// <summary>Returns whether a value is a text that the reduce has as a literal.</summary>
    public bool IsLiteral(JsonElement? value) =>
        value is { ValueKind: JsonValueKind.String } text && _texts.Contains(text.GetRawText());

    /// <summary>Returns a text as JSON.</summary>
    public static string Quoted(string text)
    {
        const int MaxBytesOfEscape = 6;
        byte[] plain = Encoding.UTF8.GetBytes(text);
        byte[] escaped = new byte[plain.Length * MaxBytesOfEscape];
        return $"\"{Encoding.UTF8.GetString(escaped.AsSpan(0, JsonText.Escape(plain, escaped)))}\"";
    }

    private static string[][] KindsOf(double[] constants, string[] texts, string[] names)
    {
        double[] numbers =
        [
            2,
            1,
            5,
            -3,
            2,
            0,
            13,
            3,
            -8,
            8,
            .. constants
                .SelectMany(static number => (double[])[number, number + 1, number - 1])
                .Where(static number => number is > 0 and < 1e15),
        ];
        string[] whole = [.. numbers.Select(Written)];
        string[] objects = [.. whole.Take(4).Select(number => ObjectOf(names, number))];
        // In this order: null, whole numbers, fractions, texts, dates, lists of texts, lists of numbers, lists of
        // objects, objects, Booleans, time spans, null or texts, null or numbers, objects of objects, long texts.
        return
        [
            ["null"],
            whole,
            ["0.5", "2.375", "0.125", "1.1", "7.0625", "0.5"],
            ["\"b\"", "\"a\"", "\"B\"", "\"\"", "\"c\"", "\"a\"", .. texts.Select(Quoted)],
            ["\"2024-05-06T07:08:09Z\"", "\"2023-01-02T03:04:05.0000000Z\"", "\"2025-02-03T00:00:00\""],
            ["[\"b\"]", "[\"a\",\"b\"]", "[]", "[\"c\",\"a\"]"],
            ["[2]", "[1,2]", "[]", "[3,1,5]", "[8]"],
            [.. objects.Select((one, index) => index is 2 ? "[]" : $"[{one},{objects[(index + 1) % objects.Length]}]")],
            objects,
            ["true", "false", "false"],
            ["\"1.02:03:04\"", "\"00:00:05\"", "\"00:00:07.5000000\""],
            ["null", "\"a\"", "null", "\"b\""],
            ["null", "2", "0", "-3"],
            [.. objects.Select(one => ObjectOf(names.Take(MaxDeepNames), one))],
            ["\"users/2-A, with a name\"", "\"people/1-B, with a title\"", "\"users/12-C, with an end\""],
        ];
    }

    private static string Written(double number) => number.ToString("R", CultureInfo.InvariantCulture);

    private static string ObjectOf(IEnumerable<string> names, string value) =>
        $"{{{string.Join(',', names.Select(name => $"{Quoted(name)}:{value}"))}}}";

    /// <summary>Returns the literal texts, and the concatenations of two of them that the text contains.</summary>
    private static IEnumerable<string> TextsOf(List<Token> tokens)
    {
        for (int at = 0; at < tokens.Count; at++)
        {
            var token = tokens[at];
            if (token.Text.Length > MaxLiteralLength)
            {
                continue;
            }

            if (token.Kind == TokenKind.Text)
            {
                yield return token.Text;
                if (at + 2 < tokens.Count && tokens[at + 1].Is("+") && tokens[at + 2].Kind == TokenKind.Text)
                {
                    yield return token.Text + tokens[at + 2].Text;
                }
            }
            else if (token.Kind == TokenKind.Template && !token.Text.Contains('$', StringComparison.Ordinal))
            {
                yield return token.Text;
            }
        }
    }

    /// <summary>Returns the dates that three numbers in a row may name: <c>new DateTime(2024, 1, 7)</c>.</summary>
    private static IEnumerable<DateTime> DatesOf(List<Token> tokens)
    {
        for (int at = 0; at + 4 < tokens.Count; at++)
        {
            bool areThree =
                tokens[at].Kind == TokenKind.Number
                && tokens[at + 1].Is(",")
                && tokens[at + 2].Kind == TokenKind.Number
                && tokens[at + 3].Is(",")
                && tokens[at + 4].Kind == TokenKind.Number;
            if (areThree && TryDate(tokens[at].Number, tokens[at + 2].Number, tokens[at + 4].Number) is { } date)
            {
                yield return date;
            }
        }
    }

    private static DateTime? TryDate(double year, double month, double day) =>
        year is >= 2 and <= 9998
        && month is >= 1 and <= 12
        && day is >= 1
        && day <= DateTime.DaysInMonth((int)year, (int)month)
            ? new DateTime((int)year, (int)month, (int)day, 0, 0, 0, DateTimeKind.Unspecified)
            : null;

    private void Add(int ofKind, params string[] values) => _literals.Add((ofKind, values));

    private void AddNullsAndBooleans(string[][] kinds)
    {
        Add(Boolean, "true", "false", "false", "true", "false");
        Add(Date, [.. Enumerable.Range(0, LiteralValues).Select(at => kinds[Date][at * 2 % 3])]);
        Add(Span, [.. Enumerable.Range(0, LiteralValues).Select(at => kinds[Span][at * 2 % 3])]);
        int[] bases = [Number, Text, Date, TextList, NumberList, ObjectList, Object, Boolean, Span];
        foreach (int one in bases)
        {
            Add(one, "null", kinds[one][0], "null", kinds[one][1], kinds[one][0]);
        }
    }

    private void AddText(string text)
    {
        string shorter = text.Length == 0 ? "" : text[..^1];
        char last = text.Length == 0 || char.IsSurrogate(text[^1]) ? 'm' : text[^1];
        string next = shorter + (char)(last + 1);
        string previous = shorter + (char)Math.Max(last - 1, ' ');

        // The places of the literal have all distances from each other, so that the literals of two members, which
        // step through their values in different ways, meet in some row.
        string[] least = [.. new[] { text, text, next, text, next }.Select(Quoted)];
        string[] greatest = [.. new[] { text, text, previous, text, shorter }.Select(Quoted)];
        _ends.Add((Count + _literals.Count, Count + _literals.Count + 1));
        Add(Text, least);
        Add(Text, greatest);
        Add(Text, [.. new[] { $"0{text}0", "1", "0" + text, "2", $"0{text}1" }.Select(Quoted)]);
        Add(Text, [.. new[] { $"9{text}9", "8", "9" + text, "7", $"9{text}0" }.Select(Quoted)]);
        AddObjects(least);
        AddObjects(greatest);
        Add(TextList, $"[{least[0]}]", $"[{least[2]}]", $"[{least[0]},\"0\"]", "[\"0\"]", $"[{least[2]}]");
        var date = DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal;
        if (text.Length >= 10 && DateTime.TryParse(text, CultureInfo.InvariantCulture, date, out var time))
        {
            bool isDay = text.Length == 10;
            AddDate(time, isDay ? "yyyy-MM-dd" : "yyyy-MM-ddTHH:mm:ss", isDay ? "" : text[Math.Min(19, text.Length)..]);
        }
    }

    /// <summary>Adds texts that have two literals in a row: <c>x.t.Split('/')[1] == "open"</c>.</summary>
    private void AddPair(string one, string other)
    {
        Add(Text, [.. new[] { $"0{one}{other}", $"1{one}1", $"0{one}{other}", $"2{one}2", $"1{one}1" }.Select(Quoted)]);
        Add(Text, [.. new[] { $"9{one}{other}", $"8{one}8", $"9{one}{other}", $"7{one}7", $"8{one}8" }.Select(Quoted)]);
    }

    private void AddObjects(string[] values)
    {
        if (_members.Length > 0)
        {
            string[] objects = [.. values.Select(value => ObjectOf(_members, value))];
            Add(Object, objects);
            Add(ObjectList, [.. objects.Select(static one => $"[{one}]")]);
        }
    }

    private void AddNumber(double number)
    {
        string[] Around(double middle) =>
            [Written(middle), Written(middle + 1), Written(middle - 1), Written(middle), Written(middle + 1)];

        string[] around = Around(number);
        Add(Number, around);
        if (number != 0)
        {
            Add(Number, Around(-number));
        }

        AddObjects(around);
        Add(NumberList, $"[{around[0]}]", $"[{around[1]}]", $"[{around[0]},0]", $"[{around[2]}]", $"[{around[1]}]");
        if (number is >= 0 and <= MaxTextLength && Math.Floor(number) == number)
        {
            AddLengths((int)number);
        }

        if (number is >= 0 and < 9999 && Math.Floor(number) == number)
        {
            AddTimes((int)number);
        }
    }

    private void AddLengths(int length)
    {
        string Repeated(char one, int count) => $"\"{new string(one, Math.Max(count, 0))}\"";
        Add(
            Text,
            Repeated('a', length - 1),
            Repeated('b', length),
            Repeated('c', length + 1),
            Repeated('b', length),
            Repeated('d', length + 1)
        );
        Add(
            Text,
            Repeated('c', length - 1),
            Repeated('b', length),
            Repeated('a', length + 1),
            Repeated('b', length),
            Repeated('d', length - 1)
        );
        if (length <= MaxListLength)
        {
            foreach (int kind in (int[])[TextList, NumberList])
            {
                string quote = kind == TextList ? "\"" : "";
                string List(int from, int count) =>
                    "["
                    + string.Join(
                        ',',
                        Enumerable.Range(from, Math.Max(count, 0)).Select(item => $"{quote}{item}{quote}")
                    )
                    + "]";
                Add(
                    kind,
                    List(100, length - 1),
                    List(200, length),
                    List(300, length + 1),
                    List(400, length),
                    List(500, length - 1)
                );
            }
        }
    }

    /// <summary>
    /// Adds dates and time spans of which a part is the number or next to it: <c>x.at.Month == 5</c>.
    /// </summary>
    private void AddTimes(int number)
    {
        string DateOf(int year, int part) =>
            string.Create(
                CultureInfo.InvariantCulture,
                $"\"{year:0000}-{Math.Clamp(part, 1, 12):00}-{Math.Clamp(part, 1, 28):00}T{Math.Clamp(part, 0, 23):00}:"
                    + $"{Math.Clamp(part, 0, 59):00}:{Math.Clamp(part, 0, 59):00}\""
            );

        if (number is > 1 and < 9999)
        {
            Add(
                Date,
                DateOf(number, 6),
                DateOf(number + 1, 6),
                DateOf(number - 1, 6),
                DateOf(number, 7),
                DateOf(number + 1, 7)
            );
        }

        if (number <= 59)
        {
            foreach (int other in (int[])[number + 1, number - 1])
            {
                Add(
                    Date,
                    DateOf(2023, number),
                    DateOf(2024, other),
                    DateOf(2025, number),
                    DateOf(2024, other),
                    DateOf(2026, other)
                );
            }

            string SpanOf(int part) =>
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"\"{Math.Max(part, 0)}.{Math.Clamp(part, 0, 23):00}:{Math.Clamp(part, 0, 59):00}:"
                        + $"{Math.Clamp(part, 0, 59):00}\""
                );
            Add(Span, SpanOf(number), SpanOf(number + 1), SpanOf(number - 1), SpanOf(number), SpanOf(number + 1));
        }
    }

    private void AddDate(DateTime date, string format, string end)
    {
        if (date.Year is < 2 or > 9998)
        {
            return;
        }

        string Moved(int days) => $"\"{date.AddDays(days).ToString(format, CultureInfo.InvariantCulture)}{end}\"";
        foreach (int day in (int[])[1, -1])
        {
            Add(Date, Moved(0), Moved(day), Moved(0), Moved(day), Moved(2 * day));
        }
    }
}
