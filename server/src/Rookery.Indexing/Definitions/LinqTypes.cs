using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>The kinds that a value may have, as the text of the index determines them.</summary>
[Flags]
internal enum LinqKinds
{
    /// <summary>No kind.</summary>
    None = 0,

    /// <summary>A Boolean.</summary>
    Boolean = 1,

    /// <summary>A number.</summary>
    Number = 2,

    /// <summary>A string.</summary>
    Text = 4,

    /// <summary>A date.</summary>
    Date = 8,

    /// <summary>A time span.</summary>
    Span = 16,

    /// <summary>A sequence.</summary>
    Sequence = 32,

    /// <summary>An object or a dictionary, whose members are data.</summary>
    Data = 64,

    /// <summary>Any kind, as for values from documents.</summary>
    Any = 127,
}

/// <summary>The type of a value, as the text of the index determines it.</summary>
/// <param name="Kinds">The kinds that the value may have.</param>
/// <param name="Members">The members of an object literal in the text; null for objects from documents.</param>
internal sealed record LinqType(LinqKinds Kinds, IReadOnlyDictionary<string, LinqType>? Members = null)
{
    /// <summary>The exact type, as <see cref="LinqNumbers"/> represents it; null if unknown.</summary>
    public ScriptFunction? Exact { get; init; }

    /// <summary>Whether the value may be null although <see cref="Exact"/> is a value type.</summary>
    public bool IsNullable { get; init; }

    /// <summary>The type of the elements of a sequence; null if unknown.</summary>
    public LinqType? Element { get; init; }

    /// <summary>The type of values from documents.</summary>
    public static LinqType Any { get; } = new(LinqKinds.Any);

    /// <summary>The type <c>string</c>.</summary>
    public static LinqType Text { get; } = new(LinqKinds.Text);

    /// <summary>The type <c>int</c>.</summary>
    public static LinqType Int { get; } = new(LinqKinds.Number) { Exact = ScriptFunction.CastToInt };
}

/// <summary>
/// Infers the types of values from the text. So a member that a value cannot have is rejected as soon as the index is
/// defined. Values from documents may have any member.
/// </summary>
internal sealed class LinqTypes
{
    private const int MaxDepth = 250;

    // Names of members, each between two spaces.
    private const string Dates =
        " Year Month Day Hour Minute Second Millisecond Microsecond Nanosecond Ticks UtcTicks DayOfYear DayNumber "
        + "DayOfWeek Date TimeOfDay DateTime UtcDateTime Offset ";
    private const string Spans =
        " Days Hours Minutes Seconds Milliseconds Hour Minute Second Millisecond Ticks TotalDays TotalHours "
        + "TotalMinutes TotalSeconds TotalMilliseconds ";

    private readonly Dictionary<string, LinqType> _variables = new(StringComparer.Ordinal);
    private readonly Dictionary<LambdaExpression, LinqType> _results = new(ReferenceEqualityComparer.Instance);

    private readonly Dictionary<Expression, LinqType> _elements = new(ReferenceEqualityComparer.Instance);

    private readonly HashSet<Expression> _boxed = new(ReferenceEqualityComparer.Instance);

    private int _depth;

    /// <summary>Starts without any variables.</summary>
    public LinqTypes()
    {
        Numbers = new LinqNumbers(this);
        Elements = new LinqElements(this);
    }

    /// <summary>The exact types of values.</summary>
    public LinqNumbers Numbers { get; }

    /// <summary>The effects of element types on methods of sequences.</summary>
    public LinqElements Elements { get; }

    /// <summary>Returns the type of a variable; null if unknown.</summary>
    public LinqType? Find(string variable) => _variables.GetValueOrDefault(variable);

    /// <summary>Sets the type of a variable; null if unknown.</summary>
    public void Set(string variable, LinqType? type)
    {
        _variables.Remove(variable);
        if (type is not null)
        {
            _variables.Add(variable, type);
        }
    }

    /// <summary>
    /// Records the result type of a lambda, while the types of its parameters are known, and returns the lambda.
    /// </summary>
    public LambdaExpression Record(LambdaExpression function)
    {
        _results[function] = Of(function.Value!);
        return function;
    }

    /// <summary>Returns the recorded result type of a lambda; null if unknown.</summary>
    public LinqType? ResultOf(LambdaExpression function) => _results.GetValueOrDefault(function);

    /// <summary>
    /// Records the element type of a sequence, while the types of the variables in it are known, and returns the
    /// sequence.
    /// </summary>
    public CallExpression RecordElement(CallExpression sequence, Expression element)
    {
        _elements[sequence] = Of(element);
        return sequence;
    }

    /// <summary>Returns the element type of a sequence; null if unknown.</summary>
    public LinqType? ElementOf(Expression sequence) =>
        sequence switch
        {
            NameExpression name => Find(name.Name)?.Element,
            ArrayLiteral { ElementType: ScriptFunction.CastToText } => LinqType.Text,
            ArrayLiteral { ElementType: { } type } => new LinqType(KindsOf(type)) { Exact = type },
            ArrayLiteral { Elements: [var first, ..] } array => ElementOf(array, Of(first)),
            CallExpression { Callee: MemberExpression { Name: "flatMap" }, Arguments: [LambdaExpression function] } =>
                _elements.GetValueOrDefault(sequence) ?? _results.GetValueOrDefault(function)?.Element,
            CallExpression { Callee: MemberExpression { Name: "map" }, Arguments: [LambdaExpression function] } =>
                _results.GetValueOrDefault(function),
            CallExpression { Callee: MemberExpression { Name: "filter" } loop } => ElementOf(loop.Target),
            InvokeExpression
            {
                Function: ScriptFunction.SortedByKeys,
                Arguments: [CallExpression { Callee: MemberExpression loop }, ..]
            } => ElementOf(loop.Target),
            InvokeExpression
            {
                Function: ScriptFunction.Distinct
                    or ScriptFunction.ToSequence
                    or ScriptFunction.OrNothing
                    or (>= ScriptFunction.CSharpSkip and <= ScriptFunction.Except),
                Arguments: [var inner, ..]
            } => ElementOf(inner),
            InvokeExpression { Function: ScriptFunction.CSharpSplit } => LinqType.Text,
            _ => null,
        };

    /// <summary>Records that a value is cast to <c>object</c>.</summary>
    public void RecordBoxed(Expression value) => _boxed.Add(value);

    /// <summary>Returns whether a value is cast to <c>object</c>.</summary>
    public bool IsBoxed(Expression value) => _boxed.Contains(value);

    /// <summary>Returns whether the text shows that a value is a string or null.</summary>
    public bool IsText(Expression value) => Of(value).Kinds is LinqKinds.Text;

    /// <summary>Returns the type of a value.</summary>
    /// <exception cref="ScriptException">
    /// Operations are chained too deep. The parser reads chains in loops, which do not count towards its nesting limit.
    /// </exception>
    public LinqType Of(Expression value)
    {
        if (++_depth > MaxDepth)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                $"The text chains more than {MaxDepth} operations",
                value.Position
            );
        }

        var type = TypeOf(value);
        if (value is not NameExpression)
        {
            type = type with
            {
                Exact = Numbers.ExactOf(value),
                IsNullable = IsNullable(value),
                Element = type.Element ?? ElementOf(value),
            };
        }

        _depth--;
        return type;
    }

    private bool IsNullable(Expression value) =>
        value switch
        {
            WordLiteral { Push: Opcode.PushNull } => true,
            NameExpression name => Find(name.Name) is { IsNullable: true },
            ConditionalExpression choice => IsNullable(choice.Then) || IsNullable(choice.Otherwise),
            LogicalExpression { Keep: Opcode.JumpKeepingValue } choice => IsNullable(choice.Right),
            InvokeExpression { IsNullable: true } => true,
            InvokeExpression
            {
                Function: (>= ScriptFunction.Plus and <= ScriptFunction.Modulo) or ScriptFunction.Negated
            } invoke => invoke.Arguments.Any(IsNullable),
            InvokeExpression
            {
                Function: (>= ScriptFunction.FirstOf and <= ScriptFunction.OnlyOrNothing)
                    or ScriptFunction.ElementAt
                    or ScriptFunction.ElementAtOrNothing
                    or ScriptFunction.Least
                    or ScriptFunction.Greatest
                    or ScriptFunction.Average,
                Arguments: [var sequence, ..]
            } => ElementOf(sequence) is { IsNullable: true },
            _ => false,
        };

    private LinqType ElementOf(ArrayLiteral array, LinqType first) =>
        array.Elements.Skip(1).Select(Of).Aggregate(first, Merge) with
        {
            IsNullable = array.HasNullableElements || array.Elements.Any(IsNullable),
            Members = array.Elements.Count == 1 ? first.Members : null,
            Element = null,
        };

    private static LinqType Merge(LinqType one, LinqType other) =>
        new(one.Kinds | other.Kinds)
        {
            Exact = one.Exact == other.Exact ? one.Exact : null,
            IsNullable = one.IsNullable || other.IsNullable,
        };

    private static LinqKinds KindsOf(ScriptFunction exact) =>
        exact switch
        {
            ScriptFunction.Condition => LinqKinds.Boolean,
            ScriptFunction.NewDate => LinqKinds.Date,
            ScriptFunction.NewSpan => LinqKinds.Span,
            ScriptFunction.ToCharacter => LinqKinds.Text | LinqKinds.Number,
            _ => LinqKinds.Number,
        };

    private LinqType TypeOf(Expression value) =>
        value switch
        {
            NameExpression name => Find(name.Name) ?? LinqType.Any,
            ObjectLiteral literal => new LinqType(
                LinqKinds.Data,
                literal
                    .Members.DistinctBy(static member => member.Name, StringComparer.Ordinal)
                    .ToDictionary(static member => member.Name!, member => Of(member.Value), StringComparer.Ordinal)
            ),
            InvokeExpression
            {
                Function: ScriptFunction.Property or ScriptFunction.PropertyOfDictionary,
                Arguments: [var target, TextLiteral name]
            } => OfMember(Of(target), name.Text),
            InvokeExpression
            {
                Function: (>= ScriptFunction.FirstOf and <= ScriptFunction.OnlyOrNothing)
                    or ScriptFunction.ElementAtOrNothing,
                Arguments: [var sequence, ..]
            } => ElementOf(sequence) ?? LinqType.Any,
            ConditionalExpression choice => Either(choice.Then, choice.Otherwise),
            LogicalExpression { Keep: Opcode.JumpKeepingValue } choice => Either(choice.Left, choice.Right),
            _ => new LinqType(KindsOf(value)),
        };

    /// <summary>Rejects a member that a value cannot have.</summary>
    /// <exception cref="ScriptException">The value has no such member.</exception>
    public void RequireMember(Expression target, Token name)
    {
        var type = Of(target);
        bool isKnown = type.Members is not null
            ? type.Members.ContainsKey(name.Text)
            : type.Kinds.HasFlag(LinqKinds.Data)
                || (type.Kinds.HasFlag(LinqKinds.Date) && IsIn(Dates, name.Text))
                || (type.Kinds.HasFlag(LinqKinds.Span) && IsIn(Spans, name.Text))
                || (type.Kinds.HasFlag(LinqKinds.Text) && name.Text is "Length")
                || (type.Kinds.HasFlag(LinqKinds.Sequence) && name.Text is "Length" or "Count")
                || (
                    name.Text is "Value" or "HasValue"
                    && (type.Kinds & (LinqKinds.Boolean | LinqKinds.Number | LinqKinds.Date | LinqKinds.Span))
                        != LinqKinds.None
                );
        if (!isKnown)
        {
            throw TokenCursor.NotSupported($"the member '{name.Text}' of {NameOf(type)}", name.Position);
        }
    }

    /// <summary>Rejects a method that a value cannot have.</summary>
    /// <exception cref="ScriptException">The value has no such method.</exception>
    public void RequireMethod(Expression target, Token name)
    {
        var type = Of(target);
        if ((type.Kinds & LinqMethods.KindsWith(name.Text)) == LinqKinds.None)
        {
            throw TokenCursor.NotSupported($"the method '{name.Text}' of {NameOf(type)}", name.Position);
        }
    }

    private LinqType Either(Expression first, Expression second)
    {
        var (left, right) = (Of(first), Of(second));
        if (first is WordLiteral { Push: Opcode.PushNull })
        {
            return right;
        }

        if (second is WordLiteral { Push: Opcode.PushNull })
        {
            return left;
        }

        return new LinqType(left.Kinds | right.Kinds);
    }

    private static LinqType OfMember(LinqType target, string name)
    {
        if (target.Members is not null)
        {
            return target.Members.GetValueOrDefault(name) ?? LinqType.Any;
        }

        return target.Kinds.HasFlag(LinqKinds.Data)
            ? LinqType.Any
            : new LinqType(
                name switch
                {
                    "Date" or "DateTime" or "UtcDateTime" => LinqKinds.Date,
                    "TimeOfDay" or "Offset" => LinqKinds.Span,
                    "DayOfWeek" => LinqKinds.Text | LinqKinds.Number,
                    "HasValue" => LinqKinds.Boolean,
                    "Value" => target.Kinds,
                    _ => LinqKinds.Number,
                }
            );
    }

    private LinqKinds KindsOf(Expression value) =>
        value switch
        {
            NumberLiteral => LinqKinds.Number,
            TextLiteral => LinqKinds.Text,
            WordLiteral { Push: Opcode.PushTrue or Opcode.PushFalse } or UnaryExpression or LogicalExpression =>
                LinqKinds.Boolean,
            ArrayLiteral
            or CallExpression { Callee: MemberExpression { Name: "map" or "filter" or "flatMap" } }
            or MemberExpression { Name: "values" } => LinqKinds.Sequence,
            CallExpression { Callee: MemberExpression { Name: "some" or "every" } } => LinqKinds.Boolean,
            InvokeExpression invoke => KindsOf(invoke),
            _ => LinqKinds.Any,
        };

    private LinqKinds KindsOf(InvokeExpression invoke) =>
        invoke.Function switch
        {
            ScriptFunction.Plus => Of(invoke.Arguments[0]).Kinds is LinqKinds.Text
            || Of(invoke.Arguments[1]).Kinds is LinqKinds.Text
                ? LinqKinds.Text
                : LinqKinds.Number | LinqKinds.Text | LinqKinds.Date | LinqKinds.Span,
            ScriptFunction.Minus => LinqKinds.Number | LinqKinds.Date | LinqKinds.Span,
            ScriptFunction.Times
            or ScriptFunction.DividedBy
            or ScriptFunction.Negated
            or ScriptFunction.CSharpAbsolute => LinqKinds.Number | LinqKinds.Span,
            ScriptFunction.Modulo
            or ScriptFunction.Sum
            or ScriptFunction.Average
            or ScriptFunction.Count
            or ScriptFunction.CSharpIndexOf
            or ScriptFunction.CSharpLastIndexOf
            or ScriptFunction.CompareOrdinal
            or ScriptFunction.CompareTo
            or (>= ScriptFunction.CastToLong and <= ScriptFunction.ParseDecimal)
            or (>= ScriptFunction.ConvertToLong and <= ScriptFunction.ConvertToDecimal)
            or (>= ScriptFunction.CSharpRound and <= ScriptFunction.SquareRoot)
            or ScriptFunction.FitInt
            or ScriptFunction.FitLong => LinqKinds.Number,
            (>= ScriptFunction.IsSame and <= ScriptFunction.IsGreaterOrEqual)
            or ScriptFunction.Condition
            or ScriptFunction.ParseBoolean
            or ScriptFunction.ConvertToBoolean
            or ScriptFunction.CSharpIncludes
            or ScriptFunction.CSharpStartsWith
            or ScriptFunction.CSharpEndsWith
            or ScriptFunction.IsNullOrEmpty
            or ScriptFunction.IsNullOrWhiteSpace
            or ScriptFunction.IsEqual
            or ScriptFunction.AreEqualObjects
            or ScriptFunction.IsSameText
            or ScriptFunction.ContainsKey
            or ScriptFunction.IsSameSequence => LinqKinds.Boolean,
            ScriptFunction.CSharpSplit
            or ScriptFunction.ToSequence
            or ScriptFunction.Distinct
            or ScriptFunction.OrNothing
            or ScriptFunction.SortedByKeys
            or (>= ScriptFunction.CSharpSkip and <= ScriptFunction.Except) => LinqKinds.Sequence,
            ScriptFunction.ToCharacter => LinqKinds.Text | LinqKinds.Number,
            ScriptFunction.CSharpText
            or ScriptFunction.CastToText
            or ScriptFunction.Id
            or (>= ScriptFunction.CSharpToLower and <= ScriptFunction.FormatText) => LinqKinds.Text,
            ScriptFunction.NewDate or ScriptFunction.NewDay or ScriptFunction.ParseDate => LinqKinds.Date,
            ScriptFunction.NewSpan or ScriptFunction.SpanFrom or ScriptFunction.ParseSpan => LinqKinds.Span,
            ScriptFunction.AddTo => LinqKinds.Date | LinqKinds.Span,
            _ => LinqKinds.Any,
        };

    private static bool IsIn(string names, string name) => names.Contains($" {name} ", StringComparison.Ordinal);

    private static string NameOf(LinqType type) =>
        type.Members is not null ? "an object that has no such member" : string.Join(" or ", NamesOf(type.Kinds));

    private static IEnumerable<string> NamesOf(LinqKinds kinds)
    {
        (LinqKinds Kind, string Name)[] names =
        [
            (LinqKinds.Boolean, "a bool"),
            (LinqKinds.Number, "a number"),
            (LinqKinds.Text, "a string"),
            (LinqKinds.Date, "a date"),
            (LinqKinds.Span, "a time span"),
            (LinqKinds.Sequence, "a sequence"),
        ];
        return names.Where(named => kinds.HasFlag(named.Kind)).Select(static named => named.Name);
    }
}
