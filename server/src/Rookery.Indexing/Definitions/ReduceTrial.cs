using System.Buffers;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Rookery.Indexing.Reducing;
using Rookery.Json;
using Rookery.Scripting.Running;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Tests a reduce on generated rows: reduces them all at once, and in parts whose results are reduced again. Both must
/// return the same row, because a large group is reduced in pages with arbitrary bounds. The syntax alone does not show
/// whether a reduce satisfies this.
/// </summary>
internal sealed class ReduceTrial : IDisposable
{
    private const int MaxNames = 64;
    private const int MaxDeepNames = 16;
    private const int MaxConstants = 12;
    private const int MaxGuesses = 300;
    private const int MaxTrials = 24;
    private const int ShownCharacters = 60;

    // Maximum bytes of all generated rows together, because a definition may have thousands of members.
    private const long MaxBytes = 32 << 20;

    // Maximum reductions of one trial. Each takes at most 60,000 steps (0.4 ms), so a trial takes at most 2 s. A reduce
    // of 20 members needs 2,000 reductions.
    private const int MaxRuns = 5_000;

    private const string Why = "The rows of a group are reduced in parts of 16, and the results are reduced again.";

    // Sums of doubles differ in their last digits by the order of addition.
    private const double Tolerance = 1e-9;

    private static readonly ScriptLimits Limits = new()
    {
        Steps = 60_000,
        MaxSteps = 60_000,
        MemoryBytes = 2 << 20,
    };

    // Increase it whenever the trial or the interpreter changes, so that marks of older versions do not count.
    private const int Version = 2;

    // Kinds of values: positions in the result of ValuesFor.
    private const int Nothing = 0;
    private const int Number = 1;
    private const int Text = 3;
    private const int Date = 4;
    private const int NumberOrNothing = 12;

    // The kinds that a guess chooses from; a kind that many members have occurs several times.
    private static readonly int[] Guesses = [Number, Number, Number, Text, Text, Nothing, 2, Date, 5, 6, 7, 8, 9, 10];

    // The number of rows in each part.
    private static readonly int[][] Parts =
    [
        [1],
        [1, 1],
        [2, 1],
        [1, 2],
        [16, 1],
        [1, 16],
        [6, 5, 6],
        [1, 1, 1, 1, 1],
    ];

    private readonly IReadOnlyList<string> _fields;
    private readonly ReduceRunner _runner;
    private readonly string[][] _values;
    private readonly ArrayBufferWriter<byte> _reduced = new();
    private string? _failure;
    private bool[]? _isKey;
    private bool _changesKey;
    private long _bytesLeft = MaxBytes;
    private int _runsLeft = MaxRuns;

    private ReduceTrial(CompiledReduce reduce, string text)
    {
        _fields = reduce.Fields;
        _runner = new ReduceRunner(reduce, Limits);
        _values = ValuesFor(text, reduce.IsCSharp);
    }

    private bool IsOver => _bytesLeft < 0 || _runsLeft < 0;

    /// <summary>
    /// Returns the mark which records that this version of the trial found no fault in a definition: one line of ASCII.
    /// </summary>
    /// <param name="definition">The definition as the log holds it.</param>
    public static string MarkOf(ReadOnlySpan<byte> definition) =>
        $"rookery reduce tried by version {Version}: {Convert.ToHexString(SHA256.HashData(definition))}\n";

    /// <summary>Returns whether a reduce needs a trial. One that only adds numbers needs none.</summary>
    public static bool IsNeededFor(CompiledReduce? reduce) => reduce is { Plain: not { CanReduceAgain: true } };

    /// <summary>
    /// Returns why the result of a reduce depends on the parts, in a sentence. Null if no generated rows show it.
    /// </summary>
    /// <param name="reduce">The reduce.</param>
    /// <param name="text">The text of the reduce.</param>
    public static string? FindFault(CompiledReduce reduce, string text)
    {
        if (!IsNeededFor(reduce))
        {
            return null;
        }

        using var trial = new ReduceTrial(reduce, text);
        return trial.Run();
    }

    /// <inheritdoc/>
    public void Dispose() => _runner.Dispose();

    /// <summary>
    /// Returns example values of each kind, as JSON, including the constants that the text compares with.
    /// </summary>
    private static string[][] ValuesFor(string text, bool isCSharp)
    {
        var tokens = new Lexer(text, isCSharp).ReadAll();
        IEnumerable<Token> Of(TokenKind kind, int max) =>
            tokens
                .Where(token => token.Kind == kind)
                .DistinctBy(static token => token.Text, StringComparer.Ordinal)
                .Take(max);

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
            .. Of(TokenKind.Number, MaxConstants)
                .SelectMany(static token => (double[])[token.Number, token.Number + 1, token.Number - 1])
                .Where(static number => number is > 0 and < 1e15),
        ];
        var texts = Of(TokenKind.Text, MaxConstants).Select(static token => Quoted(token.Text));
        string[] names = [.. Of(TokenKind.Name, MaxNames).Select(static token => token.Text)];
        string[] whole = [.. numbers.Select(static number => number.ToString("R", CultureInfo.InvariantCulture))];
        string[] objects = [.. whole.Take(4).Select(number => ObjectOf(names.Select(name => $"\"{name}\":{number}")))];
        // In this order: null, whole numbers, fractions, texts, dates, lists of texts, lists of numbers, lists of
        // objects, objects, Booleans, time spans, null or texts, null or numbers, objects of objects.
        return
        [
            ["null"],
            whole,
            ["0.5", "2.375", "0.125", "1.1", "7.0625", "0.5"],
            ["\"b\"", "\"a\"", "\"B\"", "\"\"", "\"c\"", "\"a\"", .. texts],
            ["\"2024-05-06T07:08:09Z\"", "\"2023-01-02T03:04:05.0000000Z\"", "\"2025-02-03T00:00:00\""],
            ["[\"b\"]", "[\"a\",\"b\"]", "[]", "[\"c\",\"a\"]"],
            ["[2]", "[1,2]", "[]", "[3,1,5]", "[8]"],
            [.. objects.Select((one, index) => index is 2 ? "[]" : $"[{one},{objects[(index + 1) % objects.Length]}]")],
            objects,
            ["true", "false", "false"],
            ["\"1.02:03:04\"", "\"00:00:05\"", "\"00:00:07.5000000\""],
            ["null", "\"a\"", "null", "\"b\""],
            ["null", "2", "0", "-3"],
            [.. objects.Select(one => ObjectOf(names.Take(MaxDeepNames).Select(name => $"\"{name}\":{one}")))],
        ];
    }

    private static string Quoted(string text)
    {
        const int MaxBytesOfEscape = 6;
        byte[] plain = Encoding.UTF8.GetBytes(text);
        byte[] escaped = new byte[plain.Length * MaxBytesOfEscape];
        return $"\"{Encoding.UTF8.GetString(escaped.AsSpan(0, JsonText.Escape(plain, escaped)))}\"";
    }

    private static string ObjectOf(IEnumerable<string> members) => $"{{{string.Join(',', members)}}}";

    private string? Run()
    {
        if (FindKinds() is not { } kinds)
        {
            // A reduce that fails on all generated rows reports its error when it runs on documents.
            return _failure is null ? null : $"The reduce fails on its own results. {Why} {_failure}";
        }

        _isKey = [.. kinds.Select((_, field) => IsOfKey(kinds, field))];
        int[][] accepted = [.. kinds.Select((_, field) => AcceptedKinds(kinds, field))];
        if (_changesKey)
        {
            return $"The row of a group has another key than its group. {Why} Group by a member that the row keeps, "
                + "'group r by r.City' with 'City = g.Key', and let the map compute it, 'City = d.Address.City'.";
        }

        int trials = Math.Min(MaxTrials, 2 * accepted.Max(static kindsOfField => kindsOfField.Length));
        for (int trial = 0; trial < trials; trial++)
        {
            int step = 1 + (trial / _values.Length);
            int[] tried = [.. accepted.Select((choices, field) => choices[(trial + (field * step)) % choices.Length])];
            if (
                FindFault(tried, trial) is var (fault, mayBeConcatenation)
                && (!mayBeConcatenation || HasFault(Number) || HasFault(NumberOrNothing))
            )
            {
                return fault;
            }

            // Repeats the test with values of one kind in all members that accept it.
            bool HasFault(int kind)
            {
                int[] others = [.. tried.Select((other, field) => accepted[field].Contains(kind) ? kind : other)];
                return Enumerable
                    .Range(trial, _values[NumberOrNothing].Length)
                    .Any(first => FindFault(others, first) is not null);
            }
        }

        return null;
    }

    /// <summary>Returns whether the key of a row depends on a member.</summary>
    private bool IsOfKey(int[] kinds, int changed) =>
        Enumerable
            .Range(0, _values.Length)
            .Any(kind =>
            {
                if (IsOver)
                {
                    return false;
                }

                int[] tried = [.. kinds];
                tried[changed] = kind;
                return !HaveOneKey(RowsOf(tried, count: 2, trial: 0, field => field != changed));
            });

    private bool IsOfKey(int field) => _isKey?[field] is true;

    /// <summary>
    /// Returns the kinds of values that the reduce accepts for a member, with the other members unchanged.
    /// </summary>
    private int[] AcceptedKinds(int[] kinds, int field)
    {
        int[] tried = [.. kinds];
        int[] accepted =
        [
            .. Enumerable
                .Range(0, _values.Length)
                .Where(kind =>
                {
                    tried[field] = kind;
                    return CanReduce(tried);
                }),
        ];
        return accepted.Length > 0 ? accepted : [kinds[field]];
    }

    private (string Fault, bool MayBeConcatenation)? FindFault(int[] kinds, int trial)
    {
        foreach (int[] parts in Parts)
        {
            if (IsOver)
            {
                return null;
            }

            if (FindFault(RowsOf(kinds, parts.Sum(), trial, IsOfKey), parts) is { } fault)
            {
                return fault;
            }
        }

        return null;
    }

    /// <summary>
    /// Returns a kind of value for each member, with which the reduce succeeds; null if none is found.
    /// </summary>
    private int[]? FindKinds()
    {
        uint guess = 1;
        for (int number = 0; number < MaxGuesses; number++)
        {
            int[] kinds = new int[_fields.Count];
            for (int field = 0; field < kinds.Length; field++)
            {
                // A linear congruential generator, so every trial makes the same guesses.
                guess = (guess * 1664525) + 1013904223;
                kinds[field] = number < _values.Length ? number : Guesses[(guess >> 16) % (uint)Guesses.Length];
            }

            if (CanReduce(kinds))
            {
                return kinds;
            }
        }

        return null;
    }

    private bool CanReduce(int[] kinds)
    {
        if (IsOver)
        {
            return false;
        }

        var rows = RowsOf(kinds, count: 3, trial: 0, IsOfKey);
        if (TryReduce(rows, out _) is not { } row)
        {
            return false;
        }

        _changesKey |= _isKey is not null && !HaveOneKey([rows[0], row]);
        bool canReduceAgain = TryReduce([row, rows[0]], out string failure) is not null;
        _failure ??= canReduceAgain ? null : failure;
        return canReduceAgain;
    }

    /// <summary>
    /// Generates rows whose members differ, except members that must be equal, such as those of the key.
    /// </summary>
    private byte[][] RowsOf(int[] kinds, int count, int trial, Func<int, bool> isKept)
    {
        // The step between rows differs between neighbouring members, so that they do not change together.
        int ValueOf(int row, int field) => isKept(field) ? trial : trial + (row * (1 + (field % 3))) + field;
        byte[][] rows = [.. Enumerable.Range(0, count).Select(row => RowOf(kinds, field => ValueOf(row, field)))];
        _bytesLeft -= rows.Sum(static row => (long)row.Length);
        return rows;
    }

    private byte[] RowOf(int[] kinds, Func<int, int> valueOf)
    {
        var members = _fields.Select(
            (name, field) =>
            {
                string[] values = _values[kinds[field]];
                return $"{Quoted(name)}:{values[valueOf(field) % values.Length]}";
            }
        );
        return Encoding.UTF8.GetBytes(ObjectOf(members));
    }

    private bool HaveOneKey(byte[][] rows)
    {
        try
        {
            byte[] first = _runner.KeyOf(rows[0]).ToArray();
            return Array.TrueForAll(rows, row => _runner.KeyOf(row).SequenceEqual(first));
        }
        catch (ReduceException)
        {
            return false;
        }
    }

    private (string Fault, bool MayBeConcatenation)? FindFault(byte[][] rows, int[] parts)
    {
        if (TryReduce(rows, out _) is not { } whole)
        {
            return null;
        }

        var reduced = new List<byte[]>();
        int first = 0;
        foreach (int count in parts)
        {
            if (TryReduce(rows[first..(first + count)], out _) is not { } part)
            {
                return null;
            }

            reduced.Add(part);
            first += count;
        }

        return TryReduce([.. reduced], out _) is { } joined ? Compare(whole, joined, rows.Length) : null;
    }

    private byte[]? TryReduce(byte[][] rows, out string failure)
    {
        failure = "";
        _runsLeft--;
        try
        {
            _runner.BeginGroup(_runner.KeyOf(rows[0]));
            foreach (byte[] row in rows)
            {
                _runner.AddRow(row);
            }

            _reduced.ResetWrittenCount();
            _runner.EndGroup(_reduced);
            return _reduced.WrittenSpan.ToArray();
        }
        catch (ReduceException failed)
        {
            failure = failed.Message;
            return null;
        }
    }

    /// <summary>
    /// Compares two results for one group. Returns their difference, and whether it may come from concatenating numbers
    /// and texts, as in <c>0 + "a"</c>: generated rows cause this, documents do not.
    /// </summary>
    private (string Fault, bool MayBeConcatenation)? Compare(byte[] whole, byte[] joined, int rows)
    {
        using var one = JsonDocument.Parse(whole);
        using var other = JsonDocument.Parse(joined);
        foreach (string name in _fields)
        {
            var (first, second) = (Member(one.RootElement, name), Member(other.RootElement, name));
            if (!AreSame(first, second))
            {
                string fault =
                    $"The member '{name}' of the reduce depends on how often its rows are reduced: "
                    + $"{(rows == 1 ? "a row" : $"{rows} rows")} at once gave {Shown(first)}, "
                    + $"and what they were reduced to, reduced again, gave {Shown(second)}. {Why} "
                    + "Do not count, filter or compute with rows there: let the map give what is added up, such as "
                    + "'Count = 1', and take Sum, Min, Max, First or Distinct of that member; round in the query. "
                    + "Cast what is added, 'g.Sum(x => (int)x.Count)', and not the sum, '(int)g.Sum(x => x.Count)'.";
                return (fault, IsTextOrNothing(first) || IsTextOrNothing(second));
            }
        }

        return null;
    }

    private static bool IsTextOrNothing(JsonElement? value) => value is null or { ValueKind: JsonValueKind.String };

    private static JsonElement? Member(JsonElement row, string name) =>
        row.TryGetProperty(name, out var value) && value.ValueKind != JsonValueKind.Null ? value : null;

    private static string Shown(JsonElement? value) => ShortText.Of(value?.GetRawText() ?? "nothing", ShownCharacters);

    private static bool AreSame(JsonElement? one, JsonElement? other) =>
        (one, other) switch
        {
            (null, null) => true,
            ({ } first, { } second) => AreSame(first, second),
            _ => false,
        };

    private static bool AreSame(JsonElement one, JsonElement other)
    {
        if (one.ValueKind != other.ValueKind)
        {
            return false;
        }

        switch (one.ValueKind)
        {
            case JsonValueKind.Number:
                var (first, second) = (one.GetDouble(), other.GetDouble());
                return Math.Abs(first - second) <= Tolerance * Math.Max(Math.Abs(first), Math.Abs(second));
            case JsonValueKind.Array:
                return one.GetArrayLength() == other.GetArrayLength()
                    && one.EnumerateArray().Zip(other.EnumerateArray()).All(static x => AreSame(x.First, x.Second));
            case JsonValueKind.Object:
                var members = one.EnumerateObject().ToList();
                return members.Count == other.EnumerateObject().Count()
                    && members.TrueForAll(member => AreSame(Member(one, member.Name), Member(other, member.Name)));
            default:
                // Compared as raw text: it may contain half a surrogate pair, which .NET cannot read as a string.
                return string.Equals(one.GetRawText(), other.GetRawText(), StringComparison.Ordinal);
        }
    }
}
