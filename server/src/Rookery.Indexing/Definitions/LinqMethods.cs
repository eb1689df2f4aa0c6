using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Translates methods and properties of C# values to script functions.</summary>
internal static class LinqMethods
{
    /// <summary>Methods that translate to one function, with their minimum and maximum number of arguments.</summary>
    private static readonly Dictionary<string, (ScriptFunction Function, int Least, int Most)> Functions = new(
        StringComparer.Ordinal
    )
    {
        ["ToLower"] = (ScriptFunction.CSharpToLower, 0, 0),
        ["ToLowerInvariant"] = (ScriptFunction.CSharpToLower, 0, 0),
        ["ToUpper"] = (ScriptFunction.CSharpToUpper, 0, 0),
        ["ToUpperInvariant"] = (ScriptFunction.CSharpToUpper, 0, 0),
        ["Trim"] = (ScriptFunction.CSharpTrim, 0, 16),
        ["TrimStart"] = (ScriptFunction.CSharpTrimStart, 0, 16),
        ["TrimEnd"] = (ScriptFunction.CSharpTrimEnd, 0, 16),
        ["Substring"] = (ScriptFunction.CSharpSubstring, 1, 2),
        ["Contains"] = (ScriptFunction.CSharpIncludes, 1, 1),
        ["StartsWith"] = (ScriptFunction.CSharpStartsWith, 1, 1),
        ["EndsWith"] = (ScriptFunction.CSharpEndsWith, 1, 1),
        ["IndexOf"] = (ScriptFunction.CSharpIndexOf, 1, 2),
        ["LastIndexOf"] = (ScriptFunction.CSharpLastIndexOf, 1, 2),
        ["Replace"] = (ScriptFunction.CSharpReplace, 2, 2),
        ["PadLeft"] = (ScriptFunction.CSharpPadLeft, 1, 2),
        ["PadRight"] = (ScriptFunction.CSharpPadRight, 1, 2),
        ["Insert"] = (ScriptFunction.CSharpInsert, 2, 2),
        ["Remove"] = (ScriptFunction.CSharpRemove, 1, 2),
        ["ToString"] = (ScriptFunction.CSharpText, 0, 1),
        ["Equals"] = (ScriptFunction.IsEqual, 1, 1),
        ["CompareTo"] = (ScriptFunction.CompareTo, 1, 1),
        ["Negate"] = (ScriptFunction.Negated, 0, 0),
        ["Duration"] = (ScriptFunction.CSharpAbsolute, 0, 0),
        ["Concat"] = (ScriptFunction.CSharpConcat, 1, 1),
        ["Append"] = (ScriptFunction.WithElement, 1, 1),
        ["Union"] = (ScriptFunction.Union, 1, 1),
        ["Intersect"] = (ScriptFunction.Intersect, 1, 1),
        ["Except"] = (ScriptFunction.Except, 1, 1),
        ["Distinct"] = (ScriptFunction.Distinct, 0, 0),
        ["ToHashSet"] = (ScriptFunction.Distinct, 0, 0),
        ["Skip"] = (ScriptFunction.CSharpSkip, 1, 1),
        ["Take"] = (ScriptFunction.CSharpTake, 1, 1),
        ["Reverse"] = (ScriptFunction.CSharpReverse, 0, 0),
        ["ElementAt"] = (ScriptFunction.ElementAt, 1, 1),
        ["ElementAtOrDefault"] = (ScriptFunction.ElementAtOrNothing, 1, 1),
        ["DefaultIfEmpty"] = (ScriptFunction.OrNothing, 0, 1),
        ["SequenceEqual"] = (ScriptFunction.IsSameSequence, 1, 1),
        ["ContainsKey"] = (ScriptFunction.ContainsKey, 1, 1),
        ["Value"] = (ScriptFunction.ElementAt, 1, 1),
    };

    /// <summary>Methods of dates and time spans, with the unit that each adds.</summary>
    private static readonly Dictionary<string, string> Additions = new(StringComparer.Ordinal)
    {
        ["AddYears"] = "Years",
        ["AddMonths"] = "Months",
        ["AddDays"] = "Days",
        ["AddHours"] = "Hours",
        ["AddMinutes"] = "Minutes",
        ["AddSeconds"] = "Seconds",
        ["AddMilliseconds"] = "Milliseconds",
        ["AddTicks"] = "Ticks",
        ["Add"] = "Add",
        ["Subtract"] = "Subtract",
    };

    /// <summary>
    /// Sequence methods whose optional lambda selects the aggregated value, with the function that aggregates.
    /// </summary>
    private static readonly Dictionary<string, ScriptFunction> Aggregates = new(StringComparer.Ordinal)
    {
        ["Sum"] = ScriptFunction.Sum,
        ["Min"] = ScriptFunction.Least,
        ["Max"] = ScriptFunction.Greatest,
        ["Average"] = ScriptFunction.Average,
    };

    /// <summary>
    /// Sequence methods whose optional lambda is a condition, with the function applied to the matching values.
    /// </summary>
    private static readonly Dictionary<string, ScriptFunction> Picks = new(StringComparer.Ordinal)
    {
        ["Count"] = ScriptFunction.Count,
        ["First"] = ScriptFunction.FirstOf,
        ["FirstOrDefault"] = ScriptFunction.FirstOrNothing,
        ["Single"] = ScriptFunction.OnlyOf,
        ["SingleOrDefault"] = ScriptFunction.OnlyOrNothing,
        ["Last"] = ScriptFunction.LastOf,
        ["LastOrDefault"] = ScriptFunction.LastOrNothing,
    };

    /// <summary>Sequence methods with a lambda that translate to a JavaScript array method.</summary>
    private static readonly Dictionary<string, string> Loops = new(StringComparer.Ordinal)
    {
        ["Select"] = "map",
        ["Where"] = "filter",
        ["SelectMany"] = "flatMap",
        ["Any"] = "some",
        ["All"] = "every",
    };

    /// <summary>Returns the kinds of values that may have a method of this name.</summary>
    public static LinqKinds KindsWith(string name) =>
        name switch
        {
            "ToString" or "Equals" or "CompareTo" => LinqKinds.Any,
            "Contains" or "IndexOf" or "LastIndexOf" or "Count" => LinqKinds.Text | LinqKinds.Sequence | LinqKinds.Data,
            "Add" or "Subtract" => LinqKinds.Date | LinqKinds.Span,
            "Negate" or "Duration" => LinqKinds.Span,
            "ContainsKey" or "Value" => LinqKinds.Data,
            "Split" => LinqKinds.Text,
            _ when Additions.ContainsKey(name) => LinqKinds.Date,
            _ when Functions.TryGetValue(name, out var known)
                    && known.Function is >= ScriptFunction.CSharpToLower and <= ScriptFunction.CSharpRemove =>
                LinqKinds.Text,
            _ when IsOfSequences(name) => LinqKinds.Sequence | LinqKinds.Data,
            _ => LinqKinds.Any,
        };

    /// <summary>Returns whether a name is a sequence method.</summary>
    public static bool IsOfSequences(string name) =>
        Aggregates.ContainsKey(name)
        || Picks.ContainsKey(name)
        || Loops.ContainsKey(name)
        || name
            is "LongCount"
                or "Aggregate"
                or "Distinct"
                or "Skip"
                or "Take"
                or "Contains"
                or "Concat"
                or "Reverse"
                or "ElementAt"
                or "ElementAtOrDefault"
                or "Append"
                or "Prepend"
                or "Union"
                or "Intersect"
                or "Except"
                or "SequenceEqual"
                or "DefaultIfEmpty"
                or "OrderBy"
                or "OrderByDescending"
                or "ThenBy"
                or "ThenByDescending"
                or "ToList"
                or "ToArray"
                or "ToHashSet"
                or "AsEnumerable"
                or "Cast"
                or "OfType";

    /// <summary>Translates a member access.</summary>
    /// <param name="target">The value before the dot.</param>
    /// <param name="name">The name of the member.</param>
    /// <param name="isRow">Whether the value is a variable of a query or lambda that iterates over rows. Such a value
    /// is an object, not a dictionary.</param>
    public static Expression ToMember(Expression target, Token name, bool isRow) =>
        new InvokeExpression(
            !isRow && name.Text is "Count" or "Keys" or "Values"
                ? ScriptFunction.PropertyOfDictionary
                : ScriptFunction.Property,
            [target, new TextLiteral(name.Text, name.Position)],
            name.Position
        );

    /// <summary>Translates a method call.</summary>
    /// <exception cref="ScriptException">The method is not supported with these arguments.</exception>
    public static Expression ToCall(Expression target, Token name, List<Expression> arguments)
    {
        int at = name.Position;
        if (arguments is [LambdaExpression callback])
        {
            return ToLoop(target, name, callback);
        }

        if (arguments.FirstOrDefault(static argument => argument is LambdaExpression) is { } function)
        {
            return name.Text is "Aggregate" && arguments is [var seed, LambdaExpression { Parameters.Count: <= 3 } fold]
                ? new CallExpression(new MemberExpression(ToSequence(target), "reduce", at), [fold, seed], at)
                : throw TokenCursor.NotSupported($"'{name.Text}' with these arguments", function.Position);
        }

        if (name.Text is "Split")
        {
            return ToSplit(target, name, arguments);
        }

        LinqOption.Take(arguments, "CultureInfo");
        var comparison = LinqOption.Take(arguments, "StringComparison");
        if (
            Functions.TryGetValue(name.Text, out var known)
            && arguments.Count >= known.Least
            && arguments.Count <= known.Most
        )
        {
            if (comparison is null)
            {
                return new InvokeExpression(known.Function, [target, .. arguments], at);
            }

            if (known.Function is ScriptFunction.IsEqual)
            {
                return new InvokeExpression(ScriptFunction.IsSameText, [target, .. arguments, comparison.ToText()], at);
            }

            if (known.Function is >= ScriptFunction.CSharpIncludes and <= ScriptFunction.CSharpReplace)
            {
                return new InvokeExpression(known.Function, [target, .. arguments, comparison.ToText()], at);
            }

            throw NotSupported(name, arguments.Count + 1);
        }

        return (name.Text, arguments.Count) switch
        {
            _ when comparison is not null => throw NotSupported(name, arguments.Count + 1),
            ("ToList" or "ToArray" or "AsEnumerable" or "Cast", 0) => ToSequence(target),
            ("Boost", 1) => new CallExpression(
                new NameExpression(BoostedValues.Function, at),
                [target, arguments[0]],
                at
            ),
            ("Any", 0) => new InvokeExpression(
                ScriptFunction.IsGreater,
                [new InvokeExpression(ScriptFunction.Count, [target], at), LinqConstants.Whole(0, at)],
                at
            ),
            ("LongCount", 0) => ToLong(new InvokeExpression(ScriptFunction.Count, [target], at)),
            ("Prepend", 1) => new InvokeExpression(
                ScriptFunction.CSharpConcat,
                [new ArrayLiteral([arguments[0]], at), target],
                at
            ),
            (_, 1) when Additions.TryGetValue(name.Text, out string? unit) => new InvokeExpression(
                ScriptFunction.AddTo,
                [target, arguments[0], new TextLiteral(unit, at)],
                at
            ),
            (_, 0) when Aggregates.TryGetValue(name.Text, out var aggregate) => new InvokeExpression(
                aggregate,
                [target],
                at
            ),
            (_, 0) when Picks.TryGetValue(name.Text, out var pick) => new InvokeExpression(pick, [target], at),
            _ => throw NotSupported(name, arguments.Count),
        };
    }

    /// <summary>Translates a value to a sequence, as C# enumerates it.</summary>
    public static Expression ToSequence(Expression value) =>
        value
            is ArrayLiteral
                or CallExpression { Callee: MemberExpression { Name: "map" or "filter" or "flatMap" } }
                or MemberExpression { Name: "values" }
                or InvokeExpression { Function: ScriptFunction.ToSequence }
            ? value
            : new InvokeExpression(ScriptFunction.ToSequence, [value], value.Position);

    /// <summary>Translates a value to a condition: a Boolean, or nothing (null).</summary>
    public static Expression ToCondition(Expression value) =>
        IsBoolean(value) ? value : new InvokeExpression(ScriptFunction.Condition, [value], value.Position);

    private static bool IsBoolean(Expression value) =>
        value switch
        {
            UnaryExpression { Operator: Opcode.Not }
            or WordLiteral { Push: Opcode.PushTrue or Opcode.PushFalse }
            or LogicalExpression { Keep: Opcode.JumpKeepingTrue or Opcode.JumpKeepingFalse } => true,
            CallExpression { Callee: MemberExpression { Name: "some" or "every" } } => true,
            InvokeExpression invoke => invoke.Function
                is ScriptFunction.IsSame
                    or ScriptFunction.IsEqual
                    or ScriptFunction.AreEqualObjects
                    or ScriptFunction.IsSameText
                    or ScriptFunction.IsSameSequence
                    or ScriptFunction.ContainsKey
                    or ScriptFunction.Condition
                    or (>= ScriptFunction.IsLess and <= ScriptFunction.IsGreaterOrEqual)
                    or (>= ScriptFunction.CSharpIncludes and <= ScriptFunction.CSharpEndsWith)
                    or ScriptFunction.IsNullOrEmpty
                    or ScriptFunction.IsNullOrWhiteSpace,
            _ => false,
        };

    private static Expression ToLoop(Expression target, Token name, LambdaExpression callback)
    {
        int at = name.Position;
        if (callback.Parameters.Count > 2)
        {
            throw TokenCursor.NotSupported(
                $"a function of {callback.Parameters.Count} parameters here",
                callback.Position
            );
        }

        if (Loops.TryGetValue(name.Text, out string? loop))
        {
            callback = loop switch
            {
                "filter" or "some" or "every" => AsCondition(callback),
                "flatMap" => callback with { Value = ToSequence(callback.Value!) },
                _ => callback,
            };
            return new CallExpression(new MemberExpression(ToSequence(target), loop, at), [callback], at);
        }

        if (Aggregates.TryGetValue(name.Text, out var aggregate))
        {
            return new InvokeExpression(
                aggregate,
                [new CallExpression(new MemberExpression(ToSequence(target), "map", at), [callback], at)],
                at
            );
        }

        if (name.Text is "OrderBy" or "OrderByDescending" or "ThenBy" or "ThenByDescending")
        {
            return ToOrder(target, name, callback);
        }

        if (name.Text is "Aggregate" && callback.Parameters.Count == 2)
        {
            // Without a seed, C# fails on an empty sequence, and so does FirstOf here. The sequence is evaluated twice,
            // so in a chain of such calls the cost would double at each call. Therefore the target must be a plain
            // member.
            RequireMember(target, at);
            return new CallExpression(
                new MemberExpression(
                    new InvokeExpression(ScriptFunction.CSharpSkip, [target, LinqConstants.Whole(1, at)], at),
                    "reduce",
                    at
                ),
                [callback, new InvokeExpression(ScriptFunction.FirstOf, [target], at)],
                at
            );
        }

        if (name.Text is "LongCount")
        {
            return ToLong(ToLoop(target, name with { Text = "Count" }, callback));
        }

        return Picks.TryGetValue(name.Text, out var pick)
            ? new InvokeExpression(
                pick,
                [
                    new CallExpression(
                        new MemberExpression(ToSequence(target), "filter", at),
                        [AsCondition(callback)],
                        at
                    ),
                ],
                at
            )
            : throw NotSupported(name, arguments: 1);
    }

    private static InvokeExpression ToLong(Expression count) => new(ScriptFunction.CastToLong, [count], count.Position);

    private static LambdaExpression AsCondition(LambdaExpression callback) =>
        callback with
        {
            Value = ToCondition(callback.Value!),
        };

    /// <summary>
    /// Translates sorting: each element becomes an array of itself and its sort keys. <c>ThenBy</c> adds a key.
    /// </summary>
    private static InvokeExpression ToOrder(Expression target, Token name, LambdaExpression key)
    {
        int at = name.Position;
        string direction = name.Text.EndsWith("Descending", StringComparison.Ordinal) ? "d" : "a";
        if (key.Parameters is not [var parameter])
        {
            throw TokenCursor.NotSupported($"a function of {key.Parameters.Count} parameters here", key.Position);
        }

        var keys = new ArrayLiteral([new NameExpression(parameter, at), key.Value!], at);
        if (!name.Text.StartsWith("Then", StringComparison.Ordinal))
        {
            return Sorted(ToSequence(target), parameter, keys, direction, at);
        }

        return
            target
                is InvokeExpression
                {
                    Function: ScriptFunction.SortedByKeys,
                    Arguments: [
                        CallExpression
                        {
                            Callee: MemberExpression source,
                            Arguments: [LambdaExpression { Parameters: [var first], Value: ArrayLiteral before }]
                        },
                        TextLiteral directions,
                    ],
                }
            && string.Equals(first, parameter, StringComparison.Ordinal)
            ? Sorted(
                source.Target,
                first,
                before with
                {
                    Elements = [.. before.Elements, key.Value!],
                },
                directions.Text + direction,
                at
            )
            : throw TokenCursor.NotSupported(
                $"'{name.Text}' after anything but an 'OrderBy' with a parameter of the same name",
                at
            );
    }

    private static InvokeExpression Sorted(
        Expression source,
        string parameter,
        ArrayLiteral keys,
        string directions,
        int at
    ) =>
        new(
            ScriptFunction.SortedByKeys,
            [
                new CallExpression(
                    new MemberExpression(source, "map", at),
                    [new LambdaExpression([parameter], keys, Body: null, at)],
                    at
                ),
                new TextLiteral(directions, at),
            ],
            at
        );

    /// <summary>
    /// Translates <c>Split</c> to an array of separators, followed by the options and the maximal number of parts.
    /// </summary>
    private static InvokeExpression ToSplit(Expression target, Token name, List<Expression> arguments)
    {
        var options = new List<Expression>();
        if (LinqOption.Take(arguments, "StringSplitOptions") is { } option)
        {
            options.Add(option.ToText());
        }

        if (arguments is [_, .., NumberLiteral max])
        {
            arguments.RemoveAt(arguments.Count - 1);
            options.Add(max);
        }

        var separators = arguments switch
        {
            [ArrayLiteral several] => several,
            [WordLiteral { Push: Opcode.PushNull }] => new ArrayLiteral([], name.Position),
            _ => new ArrayLiteral(arguments, name.Position),
        };
        return new InvokeExpression(ScriptFunction.CSharpSplit, [target, separators, .. options], name.Position);
    }

    private static ScriptException NotSupported(Token name, int arguments) =>
        TokenCursor.NotSupported($"the method '{name.Text}' with {LinqStatics.Count(arguments)}", name.Position);

    /// <summary>Rejects a sequence that is computed by a call with a lambda or by a loop.</summary>
    private static void RequireMember(Expression target, int at)
    {
        var source = target;
        while (true)
        {
            switch (source)
            {
                case MemberExpression member:
                    source = member.Target;
                    continue;
                case InvokeExpression { Arguments: [var first, ..] } call
                    when call.Arguments.Skip(1).All(static one => one is TextLiteral or NumberLiteral):
                    source = first;
                    continue;
                case NameExpression:
                    return;
                default:
                    throw TokenCursor.NotSupported("Aggregate() without a seed after another call: give it a seed", at);
            }
        }
    }
}
