namespace Rookery.Scripting.Compiling;

/// <summary>
/// Instructions of the stack machine. Numbers are part of the journal's format: patches travel compiled. Operands are
/// varints; a jump's target is four bytes.
/// </summary>
internal enum Opcode : byte
{
    PushUndefined = 1,
    PushNull = 2,
    PushTrue = 3,
    PushFalse = 4,

    /// <summary>Eight bytes of a double follow.</summary>
    PushNumber = 5,

    /// <summary>The index of a constant text follows.</summary>
    PushText = 6,
    LoadLocal = 7,
    StoreLocal = 8,
    Pop = 9,
    Duplicate = 10,
    DuplicateTwo = 11,

    /// <summary>The member's name follows, as a constant: object → value.</summary>
    GetMember = 12,

    /// <summary>object, key → value.</summary>
    GetElement = 13,

    /// <summary>object, value → value.</summary>
    SetMember = 14,

    /// <summary>object, key, value → value.</summary>
    SetElement = 15,
    DeleteMember = 16,
    DeleteElement = 17,
    NewArray = 18,

    /// <summary>array, value → array.</summary>
    Append = 19,

    /// <summary>array, array → array.</summary>
    AppendAll = 20,
    NewObject = 21,

    /// <summary>object, value → object.</summary>
    AddMember = 22,

    /// <summary>object, key, value → object.</summary>
    AddElement = 23,

    /// <summary>object, object → object.</summary>
    AddAll = 24,
    Not = 25,
    Negate = 26,
    ToNumber = 27,
    TypeOf = 28,
    Add = 29,
    Subtract = 30,
    Multiply = 31,
    Divide = 32,
    Remainder = 33,
    LooseEqual = 34,
    LooseUnequal = 35,
    StrictEqual = 36,
    StrictUnequal = 37,
    Less = 38,
    LessOrEqual = 39,
    Greater = 40,
    GreaterOrEqual = 41,
    Jump = 42,

    /// <summary>Takes the condition.</summary>
    JumpIfFalse = 43,

    /// <summary>Keeps the value and jumps, or drops it.</summary>
    JumpKeepingFalse = 44,

    /// <summary>Keeps the value and jumps, or drops it.</summary>
    JumpKeepingTrue = 45,

    /// <summary>Keeps the value and jumps unless it is null or undefined, which it drops.</summary>
    JumpKeepingValue = 46,

    /// <summary>A local follows: takes an array into it, and a position of 0 into the one behind it.</summary>
    BeginIteration = 47,

    /// <summary>The local of the iteration, the local for the element, and where to jump at the end follow.</summary>
    NextElement = 48,

    /// <summary>A function's number and the count of arguments follow: a function of the script.</summary>
    Call = 49,

    /// <summary>
    /// A function's number and the count of arguments follow, the receiver among them: a function of ours.
    /// </summary>
    Invoke = 50,
    Return = 51,

    /// <summary>As <see cref="Add"/>, of texts: values → text.</summary>
    JoinTexts = 52,

    /// <summary>Fails unless the value is an array, or null or undefined, of which an empty array is made.</summary>
    ToArray = 53,

    /// <summary>array, value → array; of a value that is an array, its elements.</summary>
    AppendFlat = 54,

    /// <summary>Eight bytes of a whole number follow: one of C#.</summary>
    PushWhole = 60,

    /// <summary>Eight bytes of a double follow: one of C#.</summary>
    PushReal = 61,
}
