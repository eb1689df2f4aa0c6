namespace Rookery.Documents.Scripting;

/// <summary>What a value is.</summary>
internal enum ValueKind : byte
{
    /// <summary>What is not there. The default, so that cleared memory is undefined.</summary>
    Undefined,
    Null,
    False,
    True,
    Number,

    /// <summary>A number as its JSON wrote it: it keeps its digits while it is only copied.</summary>
    StoredNumber,

    /// <summary>UTF-8 in the heap.</summary>
    Text,

    /// <summary>The inside of a JSON string with escapes, in the heap.</summary>
    EscapedText,
    Array,
    Object,
}

/// <summary>A value on the stack or in a container: a number, or a place in the heap.</summary>
internal readonly struct ScriptValue
{
    private readonly long bits;

    private ScriptValue(ValueKind kind, long bits)
    {
        Kind = kind;
        this.bits = bits;
    }

    public static ScriptValue Undefined => default;

    public static ScriptValue Null => new(ValueKind.Null, 0);

    public ValueKind Kind { get; }

    /// <summary>The number of a <see cref="ValueKind.Number"/>.</summary>
    public double Double => BitConverter.Int64BitsToDouble(bits);

    /// <summary>Where a text or stored number begins, or the number of a container.</summary>
    public int Start => (int)(bits >> 32);

    /// <summary>Bytes of a text or stored number.</summary>
    public int Length => (int)bits;

    public bool IsNothing => Kind is ValueKind.Undefined or ValueKind.Null;

    public bool IsText => Kind is ValueKind.Text or ValueKind.EscapedText;

    public bool IsNumber => Kind is ValueKind.Number or ValueKind.StoredNumber;

    public bool IsContainer => Kind is ValueKind.Array or ValueKind.Object;

    public static ScriptValue Of(bool value) => new(value ? ValueKind.True : ValueKind.False, 0);

    public static ScriptValue Of(double value) => new(ValueKind.Number, BitConverter.DoubleToInt64Bits(value));

    public static ScriptValue InHeap(ValueKind kind, int start, int length) => new(kind, ((long)start << 32) | (uint)length);

    public static ScriptValue Container(ValueKind kind, int number) => new(kind, (long)number << 32);
}
