namespace Rookery.Scripting.Compiling;

/// <summary>
/// The instructions of the stack machine. Their numbers are part of the journal's format, because the journal contains
/// compiled patches. Operands are varints; a jump target is an offset of four bytes. "a, b → c" shows the stack before
/// and after.
/// </summary>
internal enum Opcode : byte
{
    PushUndefined = 1,
    PushNull = 2,
    PushTrue = 3,
    PushFalse = 4,

    /// <summary>Operand: eight bytes of a double.</summary>
    PushNumber = 5,

    /// <summary>Operand: the index of a constant text.</summary>
    PushText = 6,
    LoadLocal = 7,
    StoreLocal = 8,
    Pop = 9,
    Duplicate = 10,
    DuplicateTwo = 11,

    /// <summary>Operand: the member's name, as the index of a constant. object → value.</summary>
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

    /// <summary>Pops the condition.</summary>
    JumpIfFalse = 43,

    /// <summary>Jumps and keeps the value if it is falsy; otherwise pops it.</summary>
    JumpKeepingFalse = 44,

    /// <summary>Jumps and keeps the value if it is truthy; otherwise pops it.</summary>
    JumpKeepingTrue = 45,

    /// <summary>Jumps and keeps the value unless it is null or undefined; otherwise pops it.</summary>
    JumpKeepingValue = 46,

    /// <summary>Operand: a local. Pops an array into it, and sets the next local to the position 0.</summary>
    BeginIteration = 47,

    /// <summary>
    /// Operands: the local of the iteration, the local for the element, and the jump target at the end.
    /// </summary>
    NextElement = 48,

    /// <summary>Calls a function of the script. Operands: the function's number and the number of arguments.</summary>
    Call = 49,

    /// <summary>
    /// Calls a built-in function. Operands: a <see cref="ScriptFunction"/> and the number of arguments, including the
    /// receiver.
    /// </summary>
    Invoke = 50,
    Return = 51,

    /// <summary>Concatenates as <see cref="Add"/>, but always as texts. value, value → text.</summary>
    JoinTexts = 52,

    /// <summary>Replaces null and undefined by an empty array. Fails on other values that are no array.</summary>
    ToArray = 53,

    /// <summary>Appends a value, or the elements of a value that is an array. array, value → array.</summary>
    AppendFlat = 54,

    /// <summary>Operand: eight bytes of an integer. Pushes a C# integer.</summary>
    PushWhole = 60,

    /// <summary>Operand: eight bytes of a double. Pushes a C# double.</summary>
    PushReal = 61,

    // Programs of the first version (ScriptProgram) do not have the instructions from here on.
    BitwiseAnd = 62,
    BitwiseOr = 63,
    BitwiseXor = 64,
    BitwiseNot = 65,
    ShiftLeft = 66,
    ShiftRight = 67,
    ShiftRightUnsigned = 68,

    /// <summary>
    /// Operands: the local of the iteration over the names of an object's members, the local of the object, the local
    /// for the name, and the jump target at the end. Skips names that the object does not have any more.
    /// </summary>
    NextName = 69,

    /// <summary>Fails with the text of the value as the reason. value → .</summary>
    Throw = 70,

    /// <summary>name, object → whether the object or array has a member of this name; fails for other values.</summary>
    In = 71,

    /// <summary>Operand: the first local of a sort. Pops the array to sort by a function of the script.</summary>
    BeginSort = 72,

    /// <summary>
    /// Operands: the first local of the sort, the two locals for the elements to compare, and the jump target at the
    /// end.
    /// </summary>
    NextComparison = 73,

    /// <summary>Operand: the first local of the sort. Pops the result of the comparison.</summary>
    AddComparison = 74,

    /// <summary>Lets the patch change the metadata of its document. Without it, metadata is read-only.</summary>
    OpenMetadata = 75,
}
