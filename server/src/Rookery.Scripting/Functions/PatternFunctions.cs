using System.Globalization;
using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Patterns;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Functions;

/// <summary>
/// Regular expressions of JavaScript. Their characters are whole ones, as with the flag u, and never half of a
/// surrogate pair.
/// </summary>
internal static class PatternFunctions
{
    private const PatternFlags KeepsIndex = PatternFlags.Global | PatternFlags.Sticky;

    /// <summary>Calls a function of regular expressions.</summary>
    public static ScriptValue InvokeOnPattern(
        this ScriptContext context,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var first = arguments[0];
        var second = arguments.Length > 1 ? arguments[1] : ScriptValue.Undefined;
        switch (function)
        {
            case ScriptFunction.NewPattern:
                return context.Patterns.Create(first, second);
            case ScriptFunction.TestPattern or ScriptFunction.RunPattern:
                if (first.IsNothing)
                {
                    return ScriptValue.Undefined;
                }

                RequirePattern(first, function);
                return Execute(context, first, context.Heap.ToText(second), function == ScriptFunction.TestPattern);
        }

        if (first.IsNothing)
        {
            return function == ScriptFunction.MatchesForCalls
                ? context.Heap.Containers.NewArray()
                : ScriptValue.Undefined;
        }

        if (!first.IsText)
        {
            throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on a value that is no text");
        }

        var text = context.Heap.ToText(first);
        switch (function)
        {
            case ScriptFunction.MatchesForCalls:
                return MatchesForCalls(context, text, second, isAll: arguments[2].Kind == ValueKind.True);
            case ScriptFunction.ReplaceMatches:
                return ReplaceMatches(context, text, second, arguments[2]);
        }

        var pattern = second;
        if (pattern.Kind != ValueKind.Pattern)
        {
            // As in JavaScript, matchAll finds all places of a text, although match and search find the first one.
            var flags = function == ScriptFunction.MatchAll ? context.Heap.NewText("g"u8) : ScriptValue.Undefined;
            pattern = context.Patterns.Create(second, flags);
        }

        switch (function)
        {
            case ScriptFunction.MatchText:
                return Match(context, text, pattern);
            case ScriptFunction.MatchAll:
                return MatchAll(context, text, RequireGlobal(context, pattern, function));
            case ScriptFunction.SearchPattern:
                bool isSticky = (context.Patterns.CompiledOf(pattern).Flags & PatternFlags.Sticky) != PatternFlags.None;
                return ScriptValue.Of(
                    TryFind(context, pattern, text, from: 0, isSticky)
                        ? UnitsBefore(context.Heap, text, context.Patterns.Matcher.Found[0])
                        : -1
                );
            default:
                throw ScriptProgram.Broken();
        }
    }

    /// <summary>Appends the text of a pattern to the heap.</summary>
    public static void AddPatternText(this ScriptHeap heap, ScriptValue pattern) =>
        heap.AddCopy(pattern.Start + sizeof(int), pattern.Length - sizeof(int));

    /// <summary>Replaces the first match of a pattern, or each one.</summary>
    public static ScriptValue ReplacePattern(
        this ScriptContext context,
        ScriptFunction function,
        ScriptValue text,
        ScriptValue wanted,
        ScriptValue replacement
    )
    {
        var heap = context.Heap;
        var pattern = context.Patterns.CompiledOf(
            function == ScriptFunction.ReplaceAll ? RequireGlobal(context, wanted, function) : wanted
        );
        replacement = heap.ToText(replacement);
        int start = heap.Length;
        int copied = 0;
        foreach (var slots in FindAll(context, wanted, text))
        {
            heap.AddCopy(text.Start + copied, slots[0] - copied);
            AddReplacement(heap, pattern, text, replacement, slots);
            copied = slots[1];
        }

        heap.AddCopy(text.Start + copied, text.Length - copied);
        return heap.TextFrom(start);
    }

    /// <summary>Splits a text at the matches of a pattern, and inserts their captures.</summary>
    public static ScriptValue SplitPattern(this ScriptContext context, ScriptValue text, ScriptValue wanted)
    {
        var heap = context.Heap;
        var pattern = context.Patterns.CompiledOf(wanted);
        var array = heap.Containers.NewArray();
        if (text.Length == 0)
        {
            if (!TryFind(context, wanted, text, from: 0, isSticky: true))
            {
                heap.Containers.Append(array, text);
            }

            return array;
        }

        int part = 0;
        int from = 0;
        while (from < text.Length && TryFind(context, wanted, text, from, isSticky: false))
        {
            var slots = context.Patterns.Matcher.Found;
            if (slots[0] == text.Length)
            {
                break;
            }

            if (slots[1] == part)
            {
                from = slots[0] + Utf16Text.BytesAt(heap.Span(text)[slots[0]]);
                continue;
            }

            heap.Containers.Append(array, Range(text, part, slots[0]));
            for (int number = 1; number < pattern.Captures; number++)
            {
                heap.Containers.Append(array, RunPatterns.Capture(text, slots, number));
            }

            heap.Budget.Spend(pattern.Captures);
            part = from = slots[1];
        }

        heap.Containers.Append(array, Range(text, part, text.Length));
        return array;
    }

    private static ScriptValue Range(ScriptValue text, int from, int to) =>
        ScriptValue.InHeap(ValueKind.Text, text.Start + from, to - from);

    private static void RequirePattern(ScriptValue value, ScriptFunction function)
    {
        if (value.Kind != ValueKind.Pattern)
        {
            throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on a value that is no regular expression"
            );
        }
    }

    private static ScriptValue RequireGlobal(ScriptContext context, ScriptValue pattern, ScriptFunction function) =>
        (context.Patterns.CompiledOf(pattern).Flags & PatternFlags.Global) != PatternFlags.None
            ? pattern
            : throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} with a regular expression without the flag 'g'"
            );

    private static bool TryFind(
        ScriptContext context,
        ScriptValue pattern,
        ScriptValue text,
        int from,
        bool isSticky
    ) =>
        context.Patterns.Matcher.TryMatch(
            context.Patterns.CompiledOf(pattern),
            context.Heap.Span(text),
            from,
            isSticky,
            context.Heap.Budget
        );

    private static int UnitsBefore(ScriptHeap heap, ScriptValue text, int offset)
    {
        heap.Budget.SpendOnBytes(offset);
        return Utf16Text.Length(heap.Span(text)[..offset]);
    }

    /// <summary>
    /// Searches from <c>lastIndex</c> on if the pattern has the flag g or y, and sets it. Returns the match, or null;
    /// for a test whether there is one.
    /// </summary>
    private static ScriptValue Execute(ScriptContext context, ScriptValue pattern, ScriptValue text, bool isTest)
    {
        var heap = context.Heap;
        var compiled = context.Patterns.CompiledOf(pattern);
        bool keepsIndex = (compiled.Flags & KeepsIndex) != PatternFlags.None;
        bool isFound = TryFindFromLastIndex(context, pattern, text);
        if (keepsIndex)
        {
            int end = isFound ? UnitsBefore(heap, text, context.Patterns.Matcher.Found[1]) : 0;
            context.Patterns.SetLastIndex(pattern, end);
        }

        return isTest ? ScriptValue.Of(isFound)
            : isFound ? context.Patterns.NewMatch(compiled, text, context.Patterns.Matcher.Found)
            : ScriptValue.Null;
    }

    private static bool TryFindFromLastIndex(ScriptContext context, ScriptValue pattern, ScriptValue text)
    {
        var flags = context.Patterns.CompiledOf(pattern).Flags;
        int from = (flags & KeepsIndex) == PatternFlags.None ? 0 : OffsetOfLastIndex(context, pattern, text);
        return from <= text.Length
            && TryFind(context, pattern, text, from, (flags & PatternFlags.Sticky) != PatternFlags.None);
    }

    // Returns an offset after the text if lastIndex is beyond its end.
    private static int OffsetOfLastIndex(ScriptContext context, ScriptValue pattern, ScriptValue text)
    {
        double index = Math.Truncate(context.Patterns.LastIndexOf(pattern));
        if (index > context.Heap.LengthOf(text))
        {
            return text.Length + 1;
        }

        var span = context.Heap.Span(text);
        int offset = Utf16Text.OffsetOf(span, index >= 0 ? (int)index : 0, out bool isInside);
        return offset + (isInside ? Utf16Text.PairBytes : 0);
    }

    /// <summary>
    /// Finds the matches of a pattern that a replacement replaces: all with the flag g, otherwise the first. Sets
    /// <c>lastIndex</c>.
    /// </summary>
    private static List<int[]> FindAll(ScriptContext context, ScriptValue pattern, ScriptValue text)
    {
        var flags = context.Patterns.CompiledOf(pattern).Flags;
        if ((flags & PatternFlags.Global) != PatternFlags.None)
        {
            context.Patterns.SetLastIndex(pattern, 0);
            return FindAllFrom(context, pattern, text, from: 0);
        }

        var found = new List<int[]>();
        if (TryFindFromLastIndex(context, pattern, text))
        {
            AddFound(context, found);
        }

        if ((flags & PatternFlags.Sticky) != PatternFlags.None)
        {
            int end = found.Count == 0 ? 0 : UnitsBefore(context.Heap, text, found[0][1]);
            context.Patterns.SetLastIndex(pattern, end);
        }

        return found;
    }

    private static List<int[]> FindAllFrom(ScriptContext context, ScriptValue pattern, ScriptValue text, int from)
    {
        bool isSticky = (context.Patterns.CompiledOf(pattern).Flags & PatternFlags.Sticky) != PatternFlags.None;
        var found = new List<int[]>();
        while (from <= text.Length && TryFind(context, pattern, text, from, isSticky))
        {
            AddFound(context, found);
            var (start, end) = (found[^1][0], found[^1][1]);
            from =
                start < end ? end
                : end < text.Length ? end + Utf16Text.BytesAt(context.Heap.Span(text)[end])
                : end + 1;
        }

        return found;
    }

    private static void AddFound(ScriptContext context, List<int[]> found)
    {
        const int BytesPerFound = 48;
        var budget = context.Heap.Budget;
        var slots = context.Patterns.Matcher.Found;
        budget.Spend(2 + (slots.Length / 4));
        budget.Require(BytesPerFound + (sizeof(int) * slots.Length));
        budget.ContainerBytes += BytesPerFound + (sizeof(int) * slots.Length);
        found.Add(slots.ToArray());
    }

    private static ScriptValue Match(ScriptContext context, ScriptValue text, ScriptValue pattern)
    {
        if ((context.Patterns.CompiledOf(pattern).Flags & PatternFlags.Global) == PatternFlags.None)
        {
            return Execute(context, pattern, text, isTest: false);
        }

        var found = FindAll(context, pattern, text);
        if (found.Count == 0)
        {
            return ScriptValue.Null;
        }

        var array = context.Heap.Containers.NewArray();
        foreach (int[] slots in found)
        {
            context.Heap.Containers.Append(array, RunPatterns.Capture(text, slots, number: 0));
        }

        return array;
    }

    private static ScriptValue MatchAll(ScriptContext context, ScriptValue text, ScriptValue pattern)
    {
        // As in JavaScript, the search begins at lastIndex and does not change it.
        int from = OffsetOfLastIndex(context, pattern, text);
        var array = context.Heap.Containers.NewArray();
        foreach (int[] slots in FindAllFrom(context, pattern, text, from))
        {
            var match = context.Patterns.NewMatch(context.Patterns.CompiledOf(pattern), text, slots);
            context.Heap.Containers.Append(array, match);
        }

        return array;
    }

    /// <summary>
    /// Returns the arguments with which a replacement function is called for each match: the captures, the index and
    /// the text, and the named captures if there are any.
    /// </summary>
    private static ScriptValue MatchesForCalls(ScriptContext context, ScriptValue text, ScriptValue wanted, bool isAll)
    {
        var heap = context.Heap;
        var array = heap.Containers.NewArray();
        int units = 0;
        int counted = 0;
        if (wanted.Kind == ValueKind.Pattern)
        {
            var pattern = context.Patterns.CompiledOf(
                isAll ? RequireGlobal(context, wanted, ScriptFunction.ReplaceAll) : wanted
            );
            foreach (int[] slots in FindAll(context, wanted, text))
            {
                var call = heap.Containers.NewArray();
                for (int number = 0; number < pattern.Captures; number++)
                {
                    heap.Containers.Append(call, RunPatterns.Capture(text, slots, number));
                }

                AddPlace(call, slots[0]);
                if (pattern.Names.Count > 0)
                {
                    heap.Containers.Append(call, context.Patterns.NewGroups(pattern, text, slots));
                }
            }

            return array;
        }

        wanted = heap.ToText(wanted);
        heap.RequireWholeCharacters(wanted);
        if (wanted.Length == 0 && isAll)
        {
            throw new ScriptFailure("the script replaces every place of a text by a function");
        }

        for (int at = 0; heap.IndexOf(text, at, wanted) is >= 0 and var skipped; )
        {
            var call = heap.Containers.NewArray();
            heap.Containers.Append(call, Range(text, at + skipped, at + skipped + wanted.Length));
            AddPlace(call, at + skipped);
            at += skipped + wanted.Length;
            if (!isAll)
            {
                break;
            }
        }

        return array;

        void AddPlace(ScriptValue call, int offset)
        {
            heap.Budget.SpendOnBytes(offset - counted);
            units += Utf16Text.Length(heap.Span(text)[counted..offset]);
            counted = offset;
            heap.Containers.Append(call, ScriptValue.Of(units));
            heap.Containers.Append(call, text);
            heap.Containers.Append(array, call);
        }
    }

    /// <summary>Replaces the matches of <see cref="MatchesForCalls"/> by the results of the calls.</summary>
    private static ScriptValue ReplaceMatches(
        ScriptContext context,
        ScriptValue text,
        ScriptValue calls,
        ScriptValue results
    )
    {
        var heap = context.Heap;
        int count = heap.Containers.Count(calls);
        // The texts are created first, because a result that is no text is converted in the heap.
        var texts = heap.Containers.NewArray();
        for (int index = 0; index < count; index++)
        {
            heap.Containers.Append(texts, heap.ToText(heap.Containers.Element(results, index)));
        }

        if (count > 0)
        {
            // The matches are ranges of the text that the calls have, without escapes.
            var call = heap.Containers.Element(calls, 0);
            int last = heap.Containers.Count(call) - 1;
            text = heap.Containers.Element(call, last);
            text = text.IsText ? text : heap.Containers.Element(call, last - 1);
        }

        int start = heap.Length;
        int copied = 0;
        for (int index = 0; index < count; index++)
        {
            // A match is a range of the text.
            var match = heap.Containers.Element(heap.Containers.Element(calls, index), 0);
            int offset = match.Start - text.Start;
            heap.AddCopy(text.Start + copied, offset - copied);
            var replacement = heap.Containers.Element(texts, index);
            heap.AddCopy(replacement.Start, replacement.Length);
            copied = offset + match.Length;
        }

        heap.AddCopy(text.Start + copied, text.Length - copied);
        return heap.TextFrom(start);
    }

    /// <summary>
    /// Appends a replacement, in which <c>$1</c> and <c>$&lt;name&gt;</c> are captures, <c>$&amp;</c> is the match,
    /// <c>$`</c> and <c>$'</c> are the text before and after it, and <c>$$</c> is a dollar sign.
    /// </summary>
    private static void AddReplacement(
        ScriptHeap heap,
        Pattern pattern,
        ScriptValue text,
        ScriptValue replacement,
        ReadOnlySpan<int> slots
    )
    {
        for (int at = 0; at < replacement.Length; )
        {
            int dollar = heap.Span(replacement)[at..].IndexOf((byte)'$');
            int plain = dollar < 0 ? replacement.Length - at : dollar;
            heap.AddCopy(replacement.Start + at, plain);
            at += plain;
            if (at == replacement.Length)
            {
                return;
            }

            var rest = heap.Span(replacement)[(at + 1)..];
            byte kind = rest.IsEmpty ? (byte)0 : rest[0];
            (int start, int end, int taken) = kind switch
            {
                (byte)'$' => (replacement.Start + at, replacement.Start + at + 1, 2),
                (byte)'&' => (text.Start + slots[0], text.Start + slots[1], 2),
                (byte)'`' => (text.Start, text.Start + slots[0], 2),
                (byte)'\'' => (text.Start + slots[1], text.Start + text.Length, 2),
                _ => CaptureAfterDollar(heap.Budget, pattern, text, rest, slots),
            };
            if (taken == 0)
            {
                (start, end, taken) = (replacement.Start + at, replacement.Start + at + 1, 1);
            }

            heap.AddCopy(start, end - start);
            at += taken;
        }
    }

    // Returns the range of a capture in the heap and the bytes of its reference; 0 bytes if it is none.
    private static (int Start, int End, int Taken) CaptureAfterDollar(
        ScriptBudget budget,
        Pattern pattern,
        ScriptValue text,
        ReadOnlySpan<byte> rest,
        ReadOnlySpan<int> slots
    )
    {
        int number = 0;
        int taken = 0;
        int end = -1;
        if (rest.Length > 0 && rest[0] == (byte)'<' && pattern.Names.Count > 0)
        {
            end = rest.IndexOf((byte)'>');
            budget.SpendOnBytes(end < 0 ? rest.Length : end);
        }

        if (end > 0)
        {
            string name = Encoding.UTF8.GetString(rest[1..end]);
            number = pattern
                .Names.FirstOrDefault(known => string.Equals(known.Name, name, StringComparison.Ordinal))
                .Number;
            taken = 2 + end;
            if (number == 0)
            {
                return (0, 0, taken);
            }
        }

        for (int digits = Math.Min(rest.Length, 2); digits > 0 && taken == 0; digits--)
        {
            bool isCapture =
                rest[..digits].IndexOfAnyExceptInRange((byte)'0', (byte)'9') < 0
                && int.TryParse(rest[..digits], NumberStyles.None, CultureInfo.InvariantCulture, out number)
                && number >= 1
                && number < pattern.Captures;
            taken = isCapture ? 1 + digits : 0;
        }

        if (taken == 0)
        {
            return default;
        }

        var capture = RunPatterns.Capture(text, slots, number);
        return capture.IsText ? (capture.Start, capture.Start + capture.Length, taken) : (0, 0, taken);
    }
}
