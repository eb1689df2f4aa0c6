using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Rookery.Indexing.Reducing;
using Rookery.Json;
using Rookery.Scripting.Running;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Tests a reduce on generated rows: reduces them all at once, and in parts whose results are reduced again. Both must
/// return the same row, because a large group is reduced in pages with arbitrary bounds. The syntax alone does not show
/// whether a reduce satisfies this.
/// </summary>
internal sealed class ReduceTrial : IDisposable
{
    private const int MaxGuesses = 300;
    private const int MaxTrials = 24;
    private const int ShownCharacters = 60;

    // Maximum bytes of all generated rows together, because a definition may have thousands of members.
    private const long MaxBytes = 32 << 20;

    // Maximum reductions of one trial. Each takes at most 60,000 steps (0.4 ms), so a trial takes at most 2 s. A reduce
    // of 20 members needs 2,000 reductions.
    private const int MaxRuns = 5_000;

    // Maximum reductions and maximum bytes of rows of the trials of literals. A reduction takes at most 20,000 steps.
    private const int MaxLiteralRuns = 10_000;
    private const long MaxLiteralBytes = 16 << 20;

    // The reductions for literals that are reserved for trials of two literals in one row (see Mixed).
    private const int MixedRuns = 2_000;

    private const string Why = "The rows of a group are reduced in parts of 16, and the results are reduced again.";

    private static readonly ScriptLimits Limits = new()
    {
        Steps = 60_000,
        MaxSteps = 60_000,
        MemoryBytes = 2 << 20,
    };

    private static readonly ScriptLimits LiteralLimits = new()
    {
        Steps = 20_000,
        MaxSteps = 20_000,
        MemoryBytes = 2 << 20,
    };

    // Increase it whenever the trial or the interpreter changes, so that marks of older versions do not count.
    private const int Version = 3;

    private const int Nothing = TrialValues.Nothing;
    private const int Number = TrialValues.Number;
    private const int Text = TrialValues.Text;
    private const int Date = TrialValues.Date;
    private const int NumberOrNothing = TrialValues.NumberOrNothing;

    // The kinds that a guess chooses from; a kind that many members have occurs several times.
    private static readonly int[] Guesses =
    [
        Number,
        Number,
        Number,
        Text,
        Text,
        Nothing,
        2,
        Date,
        5,
        6,
        7,
        8,
        9,
        10,
        14,
    ];

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
    private readonly CompiledReduce _reduce;
    private readonly TrialValues _trialValues;
    private readonly string[][] _values;
    private readonly ArrayBufferWriter<byte> _reduced = new();
    private ReduceRunner _runner;
    private string? _failure;
    private bool[]? _isKey;
    private bool _changesKey;
    private long _bytesLeft = MaxBytes;
    private int _runsLeft = MaxRuns;

    private ReduceTrial(CompiledReduce reduce, string text)
    {
        (_reduce, _fields) = (reduce, reduce.Fields);
        _runner = new ReduceRunner(reduce, Limits);
        _trialValues = new TrialValues(text, reduce.IsCSharp);
        _values = _trialValues.Kinds;
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
            int step = 1 + (trial / TrialValues.Count);
            int[] tried = [.. accepted.Select((choices, field) => choices[(trial + (field * step)) % choices.Length])];
            if (
                FindFault(tried, trial) is { } difference
                && (!difference.MayBeConcatenation || HasFault(Number) || HasFault(NumberOrNothing))
            )
            {
                return difference.Fault;
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

        return FindLiteralFault(kinds, accepted);
    }

    /// <summary>
    /// Tests the reduce with rows of few values around one literal of its text. In long series of values the least and
    /// the greatest hardly change, so that <c>g.Where(x =&gt; x.t != "open").Sum(x =&gt; x.c)</c> with
    /// <c>t = g.Min(x =&gt; x.t)</c> differs only if "open" is the least text of one part.
    /// </summary>
    private string? FindLiteralFault(int[] kinds, int[][] accepted)
    {
        _runner.Dispose();
        _runner = new ReduceRunner(_reduce, LiteralLimits);
        (_runsLeft, _bytesLeft) = (MaxLiteralRuns, MaxLiteralBytes);
        int[] plain = [.. kinds.Select((kind, field) => accepted[field].Contains(Number) ? Number : kind)];
        int[] changing = [.. Enumerable.Range(0, plain.Length).Where(field => !IsOfKey(field))];
        int[] literals = [.. Enumerable.Range(TrialValues.Count, _values.Length - TrialValues.Count)];
        bool Accepts(int field, int literal) =>
            accepted[field].Contains(_trialValues.BaseOf(literal))
            || (_trialValues.BaseOf(literal) == Text && accepted[field].Contains(TrialValues.LongText));

        // Objects are tried even if the reduce fails on those of the first trials, whose members are numbers.
        int[] Alone(int literal, int field)
        {
            int[] tried = With(literal, [field]);
            tried[field] = _trialValues.HasObjects(literal) ? literal : tried[field];
            return tried;
        }

        int[] With(int literal, IEnumerable<int> fields)
        {
            int[] tried = [.. plain];
            foreach (int field in fields.Where(field => Accepts(field, literal)))
            {
                tried[field] = literal;
            }

            return tried;
        }

        var together = literals.Select(literal => With(literal, changing));
        var alone = literals.SelectMany(literal => changing.Select(field => Alone(literal, field)));
        foreach (int[] tried in together.Concat(alone).Where(tried => !tried.AsSpan().SequenceEqual(plain)))
        {
            if (TryLiterals(tried, accepted) is { } fault)
            {
                return fault;
            }

            if (IsOver || _runsLeft < MixedRuns)
            {
                break;
            }
        }

        return Mixed(changing, With).Select(tried => TryLiterals(tried, accepted)).FirstOrDefault(f => f is not null);
    }

    /// <summary>
    /// Returns kinds with the values of one literal in one member and those of another literal in all others: a
    /// condition of two members shows its fault only if each has a value around its own literal.
    /// </summary>
    private IEnumerable<int[]> Mixed(int[] changing, Func<int, IEnumerable<int>, int[]> make)
    {
        var ends = _trialValues.Ends;
        foreach (var one in ends)
        {
            foreach (var other in ends.Where(other => other != one))
            {
                foreach (int field in changing.TakeWhile(_ => !IsOver))
                {
                    foreach (int kind in (int[])[one.Least, one.Greatest])
                    {
                        int[] tried = make(kind == one.Least ? other.Least : other.Greatest, changing);
                        tried[field] = make(kind, [field])[field];
                        yield return tried;
                    }
                }
            }
        }
    }

    private string? TryLiterals(int[] tried, int[][] accepted)
    {
        int[] numbers = [.. tried];
        var difference = FindPairFault(numbers);

        // Only members that were perhaps concatenated become numbers; conditions on others still see their texts.
        while (
            difference is { MayBeConcatenation: true, Field: var field }
            && numbers[field] != Number
            && accepted[field].Contains(Number)
        )
        {
            numbers[field] = Number;
            difference = FindPairFault(numbers);
        }

        if (difference is { MayBeConcatenation: true, Field: var last } && numbers[last] == Number)
        {
            numbers = [.. numbers.Select((kind, field) => accepted[field].Contains(Number) ? Number : kind)];
            difference = FindPairFault(numbers);
        }

        return difference?.Fault;
    }

    private Difference? FindPairFault(int[] tried)
    {
        for (int first = 0; first < TrialValues.LiteralValues && !IsOver; first++)
        {
            byte[][] rows = RowsOf(tried, count: 3, first, IsOfKey);
            if (FindFault(rows, [2, 1], [1, 2]) is { } difference)
            {
                return difference;
            }
        }

        return null;
    }

    /// <summary>Returns whether the key of a row depends on a member.</summary>
    private bool IsOfKey(int[] kinds, int changed) =>
        Enumerable
            .Range(0, TrialValues.Count)
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
                .Range(0, TrialValues.Count)
                .Where(kind =>
                {
                    tried[field] = kind;
                    return CanReduce(tried);
                }),
        ];
        return accepted.Length > 0 ? accepted : [kinds[field]];
    }

    private Difference? FindFault(int[] kinds, int trial)
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
                kinds[field] = number < TrialValues.Count ? number : Guesses[(guess >> 16) % (uint)Guesses.Length];
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
                return $"{TrialValues.Quoted(name)}:{values[valueOf(field) % values.Length]}";
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

    private Difference? FindFault(byte[][] rows, params ReadOnlySpan<int[]> splits)
    {
        if (TryReduce(rows, out _) is not { } whole)
        {
            return null;
        }

        foreach (int[] parts in splits)
        {
            if (TryReduceParts(rows, parts) is { } joined && Compare(whole, joined, rows.Length) is { } difference)
            {
                return difference;
            }
        }

        return null;
    }

    private byte[]? TryReduceParts(byte[][] rows, int[] parts)
    {
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

        return TryReduce([.. reduced], out _);
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
    private Difference? Compare(byte[] whole, byte[] joined, int rows)
    {
        using var one = JsonDocument.Parse(whole);
        using var other = JsonDocument.Parse(joined);
        for (int field = 0; field < _fields.Count; field++)
        {
            string name = _fields[field];
            var (first, second) = (
                TrialComparison.Member(one.RootElement, name),
                TrialComparison.Member(other.RootElement, name)
            );
            if (!TrialComparison.AreSame(first, second))
            {
                string fault =
                    $"The member '{name}' of the reduce depends on how often its rows are reduced: "
                    + $"{(rows == 1 ? "a row" : $"{rows} rows")} at once gave {Shown(first)}, "
                    + $"and what they were reduced to, reduced again, gave {Shown(second)}. {Why} "
                    + "Do not count, filter or compute with rows there: let the map give what is added up, such as "
                    + "'Count = 1', and take Sum, Min, Max, First or Distinct of that member; round in the query. "
                    + "Cast what is added, 'g.Sum(x => (int)x.Count)', and not the sum, '(int)g.Sum(x => x.Count)'.";
                bool areLiterals = _trialValues.IsLiteral(first) && _trialValues.IsLiteral(second);
                bool mayBeConcatenation = !areLiterals && (IsTextOrNothing(first) || IsTextOrNothing(second));
                return new Difference(fault, mayBeConcatenation, field);
            }
        }

        return null;
    }

    private static bool IsTextOrNothing(JsonElement? value) => value is null or { ValueKind: JsonValueKind.String };

    private static string Shown(JsonElement? value) => ShortText.Of(value?.GetRawText() ?? "nothing", ShownCharacters);

    private readonly record struct Difference(string Fault, bool MayBeConcatenation, int Field);
}
