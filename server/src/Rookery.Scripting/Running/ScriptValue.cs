using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>The kind of a value.</summary>
internal enum ValueKind : byte
{
    /// <summary>Missing. The default, so that cleared memory is undefined.</summary>
    Undefined,
    Null,
    False,
    True,
    Number,

    /// <summary>A number as the text of its JSON. It keeps all its digits while it is only copied.</summary>
    StoredNumber,

    /// <summary>A text in UTF-8, in the heap.</summary>
    Text,

    /// <summary>A text as the content of a JSON string with escapes, in the heap.</summary>
    EscapedText,
    Array,
    Object,

    /// <summary>An integer of C#. This and the next five kinds occur only in programs of C#.</summary>
    Whole,

    /// <summary>A double of C#. Its JSON has a point or an exponent, so that it is read back as a double.</summary>
    Real,

    /// <summary>A decimal of C#: its digits, in the heap.</summary>
    Decimal,

    /// <summary>A date: packed ticks and <see cref="DateForm"/>.</summary>
    Date,

    /// <summary>A date with an offset from UTC: the ticks of the date and of the offset, in the heap.</summary>
    OffsetDate,

    /// <summary>A time span: its ticks.</summary>
    TimeSpan,

    /// <summary>
    /// A date of JavaScript: its milliseconds since 1970, a double in the heap, because scripts can change a date.
    /// </summary>
    Moment,

    /// <summary>A regular expression of JavaScript: its number in <see cref="RunPatterns"/>.</summary>
    Pattern,
}

/// <summary>What C# distinguishes in addition to the kind of a value.</summary>
internal enum ValueTrait : byte
{
    None,

    /// <summary>A text from a document. In C#, it is a date or time span if it has that form.</summary>
    Stored,

    /// <summary>A text that is a <c>char</c>.</summary>
    Character,

    /// <summary>A <see cref="ValueKind.Whole"/> that is an <c>int</c>.</summary>
    Int,

    /// <summary>A <see cref="ValueKind.Real"/> that is a <c>float</c>.</summary>
    Single,

    /// <summary>A text that is the name of a <see cref="DayOfWeek"/>.</summary>
    Weekday,
}

/// <summary>A value on the stack or in a container: a constant, a number, or a reference into the heap.</summary>
internal readonly struct ScriptValue
{
    private readonly long _bits;

    private ScriptValue(ValueKind kind, long bits, ValueTrait trait = ValueTrait.None)
    {
        Kind = kind;
        Trait = trait;
        _bits = bits;
    }

    public static ScriptValue Undefined => default;

    public static ScriptValue Null => new(ValueKind.Null, bits: 0);

    public ValueKind Kind { get; }

    public ValueTrait Trait { get; }

    /// <summary>The number of a <see cref="ValueKind.Number"/> or <see cref="ValueKind.Real"/>.</summary>
    public double Double => BitConverter.Int64BitsToDouble(_bits);

    /// <summary>
    /// The number of a <see cref="ValueKind.Whole"/>, or the ticks of a <see cref="ValueKind.TimeSpan"/>.
    /// </summary>
    public long Whole => _bits;

    /// <summary>The offset of a text or stored number, or the number of a container.</summary>
    public int Start => (int)(_bits >> 32);

    /// <summary>Length of a text or stored number in bytes.</summary>
    public int Length => (int)_bits;

    /// <summary>Whether the value is null or undefined.</summary>
    public bool IsNothing => Kind is ValueKind.Undefined or ValueKind.Null;

    public bool IsText => Kind is ValueKind.Text or ValueKind.EscapedText;

    public bool IsNumber =>
        Kind is ValueKind.Number or ValueKind.StoredNumber or ValueKind.Whole or ValueKind.Real or ValueKind.Decimal;

    public bool IsTemporal => Kind is ValueKind.Date or ValueKind.OffsetDate or ValueKind.TimeSpan;

    public bool IsBoolean => Kind is ValueKind.True or ValueKind.False;

    public bool IsContainer => Kind is ValueKind.Array or ValueKind.Object;

    /// <summary>Whether the value is an object of JavaScript, which has an identity.</summary>
    public bool HasIdentity => Kind is ValueKind.Array or ValueKind.Object or ValueKind.Moment or ValueKind.Pattern;

    public static ScriptValue Of(bool value) => new(value ? ValueKind.True : ValueKind.False, bits: 0);

    /// <summary>Creates a number of JavaScript.</summary>
    public static ScriptValue Of(double value) => new(ValueKind.Number, BitConverter.DoubleToInt64Bits(value));

    /// <summary>Creates a C# <c>long</c>.</summary>
    public static ScriptValue OfWhole(long value) => new(ValueKind.Whole, value);

    /// <summary>Creates a C# <c>int</c>.</summary>
    public static ScriptValue OfInt(int value) => new(ValueKind.Whole, value, ValueTrait.Int);

    /// <summary>Creates a C# <c>double</c>.</summary>
    public static ScriptValue OfReal(double value) => new(ValueKind.Real, BitConverter.DoubleToInt64Bits(value));

    /// <summary>Creates a C# <c>float</c>.</summary>
    public static ScriptValue OfSingle(float value) =>
        new(ValueKind.Real, BitConverter.DoubleToInt64Bits(value), ValueTrait.Single);

    public static ScriptValue OfSpan(long ticks) => new(ValueKind.TimeSpan, ticks);

    /// <summary>Creates a date from <see cref="CSharpDate.Packed"/>.</summary>
    public static ScriptValue OfDate(long packed) => new(ValueKind.Date, packed);

    /// <summary>Creates a value whose bytes are in the heap.</summary>
    public static ScriptValue InHeap(ValueKind kind, int start, int length) =>
        new(kind, ((long)start << 32) | (uint)length);

    /// <summary>Returns the value with another trait.</summary>
    public ScriptValue With(ValueTrait trait) => new(Kind, _bits, trait);

    /// <summary>Creates an array or object from its number.</summary>
    public static ScriptValue Container(ValueKind kind, int number) => new(kind, (long)number << 32);
}
