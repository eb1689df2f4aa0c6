using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Translates static members of C# types, constructors, and the functions of RavenDB's indexes, to functions of
/// scripts. A position is the offset of the member in the text of the map, in characters, for error messages.
/// </summary>
internal static class LinqStatics
{
    /// <summary>
    /// Static methods that translate to one function with the same arguments: the function, and the number of
    /// arguments. Enum arguments, such as a <c>StringComparison</c>, are removed before the lookup and do not count.
    /// </summary>
    private static readonly Dictionary<string, (ScriptFunction Function, int Count)> Functions = new(
        StringComparer.Ordinal
    )
    {
        ["Math.Abs"] = (ScriptFunction.CSharpAbsolute, 1),
        ["Math.Floor"] = (ScriptFunction.CSharpFloor, 1),
        ["Math.Ceiling"] = (ScriptFunction.CSharpCeiling, 1),
        ["Math.Truncate"] = (ScriptFunction.CSharpTruncate, 1),
        ["Math.Sign"] = (ScriptFunction.CSharpSign, 1),
        ["Math.Min"] = (ScriptFunction.CSharpMinimum, 2),
        ["Math.Max"] = (ScriptFunction.CSharpMaximum, 2),
        ["Math.Pow"] = (ScriptFunction.Power, 2),
        ["Math.Sqrt"] = (ScriptFunction.SquareRoot, 1),
        ["decimal.Round"] = (ScriptFunction.CSharpRound, 1),
        ["decimal.Floor"] = (ScriptFunction.CSharpFloor, 1),
        ["decimal.Ceiling"] = (ScriptFunction.CSharpCeiling, 1),
        ["decimal.Truncate"] = (ScriptFunction.CSharpTruncate, 1),
        ["int.Parse"] = (ScriptFunction.ParseInt, 1),
        ["long.Parse"] = (ScriptFunction.ParseLong, 1),
        ["double.Parse"] = (ScriptFunction.ParseDouble, 1),
        ["decimal.Parse"] = (ScriptFunction.ParseDecimal, 1),
        ["bool.Parse"] = (ScriptFunction.ParseBoolean, 1),
        ["DateTime.Parse"] = (ScriptFunction.ParseDate, 1),
        ["DateTimeOffset.Parse"] = (ScriptFunction.ParseDate, 1),
        ["TimeSpan.Parse"] = (ScriptFunction.ParseSpan, 1),
        ["Convert.ToInt32"] = (ScriptFunction.ConvertToInt, 1),
        ["Convert.ToInt64"] = (ScriptFunction.ConvertToLong, 1),
        ["Convert.ToDouble"] = (ScriptFunction.ConvertToDouble, 1),
        ["Convert.ToDecimal"] = (ScriptFunction.ConvertToDecimal, 1),
        ["Convert.ToBoolean"] = (ScriptFunction.ConvertToBoolean, 1),
        ["Convert.ToDateTime"] = (ScriptFunction.ParseDate, 1),
        ["Convert.ToString"] = (ScriptFunction.CSharpText, 1),
        ["string.Equals"] = (ScriptFunction.AreEqualObjects, 2),
        ["object.Equals"] = (ScriptFunction.AreEqualObjects, 2),
        ["string.IsNullOrEmpty"] = (ScriptFunction.IsNullOrEmpty, 1),
        ["string.IsNullOrWhiteSpace"] = (ScriptFunction.IsNullOrWhiteSpace, 1),
        ["string.CompareOrdinal"] = (ScriptFunction.CompareOrdinal, 2),
    };

    /// <summary>Maps the names of .NET types to the C# keywords, so that each type has one name here.</summary>
    private static readonly Dictionary<string, string> Keywords = new(StringComparer.Ordinal)
    {
        ["String"] = "string",
        ["Int32"] = "int",
        ["Int64"] = "long",
        ["Double"] = "double",
        ["Decimal"] = "decimal",
        ["Boolean"] = "bool",
        ["Object"] = "object",
    };

    /// <summary>Returns whether a name is a type with static members.</summary>
    public static bool HasStaticMembers(string name) =>
        HasMethodsOfSequences(name)
        || Keywords.ContainsKey(name)
        || LinqOption.IsType(name)
        || name
            is "Math"
                or "string"
                or "int"
                or "long"
                or "double"
                or "decimal"
                or "float"
                or "bool"
                or "char"
                or "object"
                or "Convert"
                or "DateTime"
                or "DateTimeOffset"
                or "DateOnly"
                or "TimeOnly"
                or "TimeSpan"
                or "DayOfWeek"
                or "Guid"
                or "Regex"
                or "Enum"
                or "Array"
                or "FieldIndexing"
                or "FieldStorage"
                or "FieldTermVector"
                or "NoTracking";

    /// <summary>
    /// Returns whether a name is a type whose static methods are sequence methods, with the sequence as first argument.
    /// </summary>
    public static bool HasMethodsOfSequences(string name) => name is "Enumerable" or "DynamicEnumerable" or "Queryable";

    /// <summary>Translates a call of a static method.</summary>
    /// <exception cref="ScriptException">The method is not supported with these arguments.</exception>
    public static Expression ToCall(string type, string member, List<Expression> arguments, int position)
    {
        string name = $"{Keywords.GetValueOrDefault(type, type)}.{member}";
        // The only supported culture is the invariant one, which all functions of scripts use.
        LinqOption.Take(arguments, "CultureInfo");
        if (LinqOption.Take(arguments, "StringComparison") is { } comparison)
        {
            return (name, arguments.Count, comparison.Name) switch
            {
                ("string.Equals", 2, _) => new InvokeExpression(
                    ScriptFunction.IsSameText,
                    [.. arguments, comparison.ToText()],
                    position
                ),
                ("string.Compare", 2, "Ordinal") => new InvokeExpression(
                    ScriptFunction.CompareOrdinal,
                    arguments,
                    position
                ),
                _ => throw NotSupported(name, arguments.Count + 1, position),
            };
        }

        if (Functions.TryGetValue(name, out var known) && known.Count == arguments.Count)
        {
            return new InvokeExpression(known.Function, arguments, position);
        }

        return (name, arguments) switch
        {
            ("Math.Round" or "decimal.Round", { Count: >= 1 and <= 3 }) => ToRound(arguments, position),
            // Loaded documents are tracked nevertheless, so the index is fresher than the text asks for.
            ("NoTracking.LoadDocument", [_, _]) => new InvokeExpression(ScriptFunction.Load, arguments, position),
            ("string.Join", [var separator, var only]) => new InvokeExpression(
                ScriptFunction.JoinWith,
                [separator, only],
                position
            ),
            ("string.Join", [var separator, _, _, ..]) => new InvokeExpression(
                ScriptFunction.JoinWith,
                [separator, new ArrayLiteral([.. arguments.Skip(1)], position)],
                position
            ),
            // A single argument is a sequence of values; several arguments are the values themselves. Likewise, Format
            // takes its values as one array or as separate arguments.
            ("string.Concat", [var only]) => new InvokeExpression(ScriptFunction.JoinAll, [only], position),
            ("string.Concat", [_, _, ..]) => new InvokeExpression(
                ScriptFunction.JoinAll,
                [new ArrayLiteral(arguments, position)],
                position
            ),
            ("string.Format", [var format, ArrayLiteral values]) => new InvokeExpression(
                ScriptFunction.FormatText,
                [format, values],
                position
            ),
            ("string.Format", [var format, ..]) => new InvokeExpression(
                ScriptFunction.FormatText,
                [format, new ArrayLiteral([.. arguments.Skip(1)], position)],
                position
            ),
            (
                "TimeSpan.FromDays"
                    or "TimeSpan.FromHours"
                    or "TimeSpan.FromMinutes"
                    or "TimeSpan.FromSeconds"
                    or "TimeSpan.FromMilliseconds"
                    or "TimeSpan.FromTicks",
                [var count]
            ) => new InvokeExpression(
                ScriptFunction.SpanFrom,
                [count, new TextLiteral(member["From".Length..], position)],
                position
            ),
            _ => throw NotSupported(name, arguments.Count, position),
        };
    }

    /// <summary>Translates a static property or constant.</summary>
    /// <exception cref="ScriptException">The member is not supported.</exception>
    public static Expression ToValue(string type, string member, int position)
    {
        if (LinqOption.IsType(type))
        {
            return LinqOption.Of(type, member, position);
        }

        return ($"{Keywords.GetValueOrDefault(type, type)}.{member}") switch
        {
            "FieldIndexing.Default"
            or "FieldIndexing.Exact"
            or "FieldIndexing.Search"
            or "FieldIndexing.No"
            or "FieldStorage.Yes"
            or "FieldStorage.No" => new TextLiteral(member, position),
            _ when type is "FieldTermVector" => new TextLiteral(member, position),
            "string.Empty" => new TextLiteral("", position),
            "Guid.Empty" => new TextLiteral(Guid.Empty.ToString(), position),
            "int.MaxValue" => LinqConstants.Whole(int.MaxValue, position),
            "int.MinValue" => LinqConstants.Whole(int.MinValue, position),
            "long.MaxValue" => LinqConstants.Whole(long.MaxValue, position),
            "long.MinValue" => LinqConstants.Whole(long.MinValue, position),
            "DateTime.MinValue" => new InvokeExpression(
                ScriptFunction.NewDate,
                [LinqConstants.Whole(0, position)],
                position
            ),
            "DateTime.MaxValue" => new InvokeExpression(
                ScriptFunction.NewDate,
                [LinqConstants.Whole(DateTime.MaxValue.Ticks, position)],
                position
            ),
            "DateTime.UnixEpoch" => new InvokeExpression(
                ScriptFunction.NewDate,
                [LinqConstants.Whole(DateTime.UnixEpoch.Ticks, position), new TextLiteral("Utc", position)],
                position
            ),
            "TimeSpan.Zero" => new InvokeExpression(
                ScriptFunction.NewSpan,
                [LinqConstants.Whole(0, position)],
                position
            ),
            _ when type is "DayOfWeek" && Enum.TryParse<DayOfWeek>(member, out var day) => ToWeekday(day, position),
            _ => throw TokenCursor.NotSupported($"'{type}.{member}'", position),
        };
    }

    // Scripts have no constants of days of the week, so this is the property DayOfWeek of a date that has the day. The
    // first day of .NET's calendar, 0001-01-01, is a Monday, which has the number 1 in .NET.
    private static InvokeExpression ToWeekday(DayOfWeek day, int position)
    {
        int daysAfterMonday = ((int)day + 6) % 7;
        return new InvokeExpression(
            ScriptFunction.Property,
            [
                new InvokeExpression(
                    ScriptFunction.NewDate,
                    [LinqConstants.Whole(daysAfterMonday * TimeSpan.TicksPerDay, position)],
                    position
                ),
                new TextLiteral("DayOfWeek", position),
            ],
            position
        );
    }

    /// <summary>Translates a constructor call.</summary>
    /// <exception cref="ScriptException">The constructor is not supported with these arguments.</exception>
    public static Expression ToNew(string type, List<Expression> arguments, int position)
    {
        var kind = LinqOption.Take(arguments, "DateTimeKind");
        var function = (type, arguments.Count) switch
        {
            ("DateTime", 1 or 3 or 6 or 7) => ScriptFunction.NewDate,
            ("DateOnly", 3) when kind is null => ScriptFunction.NewDay,
            ("TimeSpan", 1 or 3 or 4 or 5) when kind is null => ScriptFunction.NewSpan,
            _ => throw TokenCursor.NotSupported($"'new {type}' with {Count(arguments.Count)}", position),
        };
        return new InvokeExpression(function, kind is null ? arguments : [.. arguments, kind.ToText()], position);
    }

    /// <summary>Translates a call of a RavenDB index function, such as <c>LoadDocument</c>.</summary>
    /// <exception cref="ScriptException">The function is not supported with these arguments.</exception>
    public static Expression ToFunction(Token name, List<Expression> arguments) =>
        (name.Text, arguments.Count) switch
        {
            // The arguments are the document's id and the name of the collection.
            ("LoadDocument", 2) => new InvokeExpression(ScriptFunction.Load, arguments, name.Position),
            ("LoadDocument", _) => throw TokenCursor.NotSupported(
                "'LoadDocument' without the name of a collection",
                name.Position
            ),
            ("MetadataFor", 1) => new InvokeExpression(ScriptFunction.Metadata, arguments, name.Position),
            ("Id", 1) => new InvokeExpression(ScriptFunction.Id, arguments, name.Position),
            _ => MetadataLists.TryTranslate(name.Text, arguments, name.Position)
                ?? CreatedFields.TryTranslate(name.Text, arguments, name.Position)
                ?? throw TokenCursor.NotSupported($"the function '{name.Text}'", name.Position),
        };

    /// <summary>Returns a number of arguments in words: <c>one argument</c> or <c>3 arguments</c>.</summary>
    public static string Count(int arguments) => arguments == 1 ? "one argument" : $"{arguments} arguments";

    private static InvokeExpression ToRound(List<Expression> arguments, int position)
    {
        var rounding = LinqOption.Take(arguments, "MidpointRounding");
        return new InvokeExpression(
            ScriptFunction.CSharpRound,
            rounding is null ? arguments : [.. arguments, rounding.ToText()],
            position
        );
    }

    private static ScriptException NotSupported(string name, int arguments, int position) =>
        TokenCursor.NotSupported($"'{name}' with {Count(arguments)}", position);
}
