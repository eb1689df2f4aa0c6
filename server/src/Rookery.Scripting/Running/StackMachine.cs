using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;

namespace Rookery.Scripting.Running;

/// <summary>Executes the instructions of a program, with a stack of values and a stack of calls.</summary>
internal sealed class StackMachine
{
    // Maximum nested calls.
    private const int MaxFrames = 100;
    private const int MaxStackValues = 16 * 1024;

    // Bytes of a thrown text that the error message shows.
    private const int MaxThrownBytes = 500;

    // Values for which the stack keeps memory between runs.
    private const int IdleStack = 1024;

    // Locals that are cleared in one step.
    private const int LocalsPerStep = 8;

    private readonly ScriptContext _context;
    private readonly ScriptHeap _heap;
    private readonly LoadedProgram _program;
    private readonly Frame[] _frames = new Frame[MaxFrames];
    private ScriptValue[] _stack = new ScriptValue[256];
    private int _top;

    /// <summary>Creates a machine.</summary>
    /// <param name="context">The state that functions share.</param>
    /// <param name="program">The program to run.</param>
    public StackMachine(ScriptContext context, LoadedProgram program)
    {
        _context = context;
        _heap = context.Heap;
        _program = program;
    }

    /// <summary>The offset of the last instruction that was begun, from the first one of the program.</summary>
    public int Instruction { get; private set; }

    /// <summary>Releases the stack if a run has enlarged it.</summary>
    public void Trim()
    {
        if (_stack.Length > IdleStack)
        {
            _stack = new ScriptValue[IdleStack];
        }
    }

    /// <summary>Runs the program's first function.</summary>
    /// <param name="code">The instructions of the program.</param>
    /// <param name="parameters">The arguments of the function.</param>
    /// <exception cref="ScriptFailure">The script fails.</exception>
    public ScriptValue Run(ReadOnlySpan<byte> code, List<ScriptValue> parameters)
    {
        _top = 0;
        Instruction = 0;
        foreach (var parameter in parameters)
        {
            Push(parameter);
        }

        return Execute(code);
    }

    private ScriptValue Execute(ReadOnlySpan<byte> code)
    {
        int frame = 0;
        int localsAt = 0;
        Enter(_program.Functions[0], ref localsAt);
        int at = _program.Functions[0].Start;
        while (true)
        {
            Instruction = at;
            _heap.Budget.Spend(1);
            var opcode = (Opcode)code[at++];
            switch (opcode)
            {
                case Opcode.PushUndefined:
                    Push(ScriptValue.Undefined);
                    break;
                case Opcode.PushNull:
                    Push(ScriptValue.Null);
                    break;
                case Opcode.PushTrue or Opcode.PushFalse:
                    Push(ScriptValue.Of(opcode == Opcode.PushTrue));
                    break;
                case Opcode.PushNumber:
                    Push(ScriptValue.Of(BinaryPrimitives.ReadDoubleLittleEndian(code[at..])));
                    at += sizeof(double);
                    break;
                case Opcode.PushWhole:
                    long whole = BinaryPrimitives.ReadInt64LittleEndian(code[at..]);
                    Push(whole == (int)whole ? ScriptValue.OfInt((int)whole) : ScriptValue.OfWhole(whole));
                    at += sizeof(long);
                    break;
                case Opcode.PushReal:
                    Push(ScriptValue.OfReal(BinaryPrimitives.ReadDoubleLittleEndian(code[at..])));
                    at += sizeof(double);
                    break;
                case Opcode.PushText:
                    Push(_program.Constants[ReadOperand(code, ref at)]);
                    break;
                case Opcode.LoadLocal:
                    Push(_stack[localsAt + ReadOperand(code, ref at)]);
                    break;
                case Opcode.StoreLocal:
                    _stack[localsAt + ReadOperand(code, ref at)] = Pop();
                    break;
                case Opcode.Pop:
                    _top--;
                    break;
                case Opcode.Duplicate:
                    Push(_stack[_top - 1]);
                    break;
                case Opcode.DuplicateTwo:
                    Push(_stack[_top - 2]);
                    Push(_stack[_top - 2]);
                    break;
                case Opcode.Jump:
                    at = ReadTarget(code, at);
                    break;
                case Opcode.JumpIfFalse:
                    at = _heap.IsTrue(Pop()) ? at + sizeof(int) : ReadTarget(code, at);
                    break;
                case Opcode.JumpKeepingFalse:
                    at = JumpOrPop(!_heap.IsTrue(_stack[_top - 1]), code, at);
                    break;
                case Opcode.JumpKeepingTrue:
                    at = JumpOrPop(_heap.IsTrue(_stack[_top - 1]), code, at);
                    break;
                case Opcode.JumpKeepingValue:
                    at = JumpOrPop(!_stack[_top - 1].IsNothing, code, at);
                    break;
                case Opcode.BeginIteration:
                    int iteration = localsAt + ReadOperand(code, ref at);
                    _stack[iteration] = _heap.ToArray(Pop());
                    _stack[iteration + 1] = ScriptValue.Of(0);
                    break;
                case Opcode.NextElement:
                    iteration = localsAt + ReadOperand(code, ref at);
                    int element = localsAt + ReadOperand(code, ref at);
                    at = TryNext(iteration, element) ? at + sizeof(int) : ReadTarget(code, at);
                    break;
                case Opcode.BeginSort:
                    var sort = SortAt(localsAt + ReadOperand(code, ref at));
                    ComparedSorting.Begin(_heap, Pop(), sort);
                    break;
                case Opcode.NextComparison:
                    sort = SortAt(localsAt + ReadOperand(code, ref at));
                    int first = localsAt + ReadOperand(code, ref at);
                    int second = localsAt + ReadOperand(code, ref at);
                    at = ComparedSorting.TryNext(_heap, sort, out _stack[first], out _stack[second])
                        ? at + sizeof(int)
                        : ReadTarget(code, at);
                    break;
                case Opcode.AddComparison:
                    sort = SortAt(localsAt + ReadOperand(code, ref at));
                    ComparedSorting.AddComparison(_heap, Pop(), sort);
                    break;
                case Opcode.NextName:
                    iteration = localsAt + ReadOperand(code, ref at);
                    int owner = localsAt + ReadOperand(code, ref at);
                    element = localsAt + ReadOperand(code, ref at);
                    at = TryNextName(iteration, owner, element) ? at + sizeof(int) : ReadTarget(code, at);
                    break;
                case Opcode.OpenMetadata:
                    _context.Documents.OpenMetadata();
                    break;
                case Opcode.Call:
                    var function = _program.Functions[ReadOperand(code, ref at)];
                    // The number of arguments, which is always that of the parameters.
                    ReadOperand(code, ref at);
                    if (frame == MaxFrames)
                    {
                        throw new ScriptFailure($"the script calls its functions deeper than {MaxFrames} levels");
                    }

                    _frames[frame++] = new Frame(at, localsAt);
                    Enter(function, ref localsAt);
                    at = function.Start;
                    break;
                case Opcode.Invoke:
                    var number = (ScriptFunction)ReadOperand(code, ref at);
                    int count = ReadOperand(code, ref at);
                    var value = _context.Invoke(number, _stack.AsSpan(_top - count, count));
                    _top -= count;
                    Push(value);
                    break;
                case Opcode.Return:
                    value = Pop();
                    if (frame == 0)
                    {
                        return value;
                    }

                    _top = localsAt;
                    (at, localsAt) = (_frames[--frame].Return, _frames[frame].Base);
                    Push(value);
                    break;
                case Opcode.NewArray:
                    Push(_heap.Containers.NewArray());
                    break;
                case Opcode.NewObject:
                    Push(_heap.Containers.NewObject());
                    break;
                case Opcode.GetMember:
                    _stack[_top - 1] = _context.GetMember(
                        _stack[_top - 1],
                        _program.Constants[ReadOperand(code, ref at)]
                    );
                    break;
                case Opcode.SetMember:
                    value = Pop();
                    _context.SetMember(_stack[_top - 1], _program.Constants[ReadOperand(code, ref at)], value);
                    _stack[_top - 1] = value;
                    break;
                case Opcode.AddMember:
                    value = Pop();
                    _heap.Containers.Set(_stack[_top - 1], _program.Constants[ReadOperand(code, ref at)], value);
                    break;
                case Opcode.DeleteMember:
                    _stack[_top - 1] = _context.Delete(_stack[_top - 1], _program.Constants[ReadOperand(code, ref at)]);
                    break;
                default:
                    Operate(opcode);
                    break;
            }
        }
    }

    /// <summary>Executes an instruction without operands.</summary>
    private void Operate(Opcode opcode)
    {
        switch (opcode)
        {
            case Opcode.Not:
                _stack[_top - 1] = ScriptValue.Of(!_heap.IsTrue(_stack[_top - 1]));
                return;
            case Opcode.Negate:
                _stack[_top - 1] = ScriptValue.Of(-_heap.ToNumber(_stack[_top - 1]));
                return;
            case Opcode.ToNumber:
                _stack[_top - 1] = ScriptValue.Of(_heap.ToNumber(_stack[_top - 1]));
                return;
            case Opcode.BitwiseNot:
                _stack[_top - 1] = ScriptValue.Of(~_heap.ToInt32(_stack[_top - 1]));
                return;
            case Opcode.Throw:
                throw new ScriptFailure(
                    $"the script throws '{_heap.Shown(_heap.Plain(_heap.ToText(_stack[_top - 1])), MaxThrownBytes)}'"
                );
            case Opcode.TypeOf:
                _stack[_top - 1] = _heap.NewText(Conversions.TypeOf(_stack[_top - 1]));
                return;
            case Opcode.ToArray:
                _stack[_top - 1] = _heap.ToArray(_stack[_top - 1]);
                return;
        }

        var right = Pop();
        switch (opcode)
        {
            case Opcode.Append:
                _heap.Containers.Append(_stack[_top - 1], right);
                return;
            case Opcode.AppendAll:
                _heap.AppendAll(_stack[_top - 1], _heap.ToArray(right));
                return;
            case Opcode.AppendFlat when right.Kind == ValueKind.Array:
                _heap.AppendAll(_stack[_top - 1], right);
                return;
            case Opcode.AppendFlat:
                _heap.Containers.Append(_stack[_top - 1], right);
                return;
            case Opcode.AddAll:
                _context.AddAll(_stack[_top - 1], right);
                return;
            case Opcode.AddElement:
                var key = _heap.ToText(Pop());
                _heap.Containers.Set(_stack[_top - 1], key, right);
                return;
            case Opcode.GetElement:
                _stack[_top - 1] = _context.GetElement(_stack[_top - 1], right);
                return;
            case Opcode.SetElement:
                key = Pop();
                _context.SetElement(_stack[_top - 1], key, right);
                _stack[_top - 1] = right;
                return;
            case Opcode.DeleteElement:
                _stack[_top - 1] = _context.Delete(_stack[_top - 1], _heap.ToText(right));
                return;
            default:
                _stack[_top - 1] = _context.Calculate(opcode, _stack[_top - 1], right);
                return;
        }
    }

    /// <summary>Enters a function whose arguments are on the stack. Its other locals are undefined at first.</summary>
    private void Enter(LoadedFunction function, ref int localsAt)
    {
        localsAt = _top - function.Parameters;
        int end = localsAt + function.Locals;
        EnsureStack(end);
        _heap.Budget.Spend((end - _top) / LocalsPerStep);
        _stack.AsSpan(_top, end - _top).Clear();
        _top = end;
    }

    private void Push(ScriptValue value)
    {
        if (_top == _stack.Length)
        {
            EnsureStack(_top + 1);
        }

        _stack[_top++] = value;
    }

    private void EnsureStack(int length)
    {
        if (length > MaxStackValues)
        {
            throw new ScriptFailure("the script keeps too many values at once");
        }

        if (length > _stack.Length)
        {
            Array.Resize(ref _stack, Math.Max(length, 2 * _stack.Length));
        }
    }

    private ScriptValue Pop() => _stack[--_top];

    private bool TryNext(int iteration, int element)
    {
        var position = (int)_stack[iteration + 1].Double;
        if (position >= _heap.Containers.Count(_stack[iteration]))
        {
            return false;
        }

        _stack[element] = _heap.Containers.Element(_stack[iteration], position);
        _stack[iteration + 1] = ScriptValue.Of(position + 1);
        return true;
    }

    private bool TryNextName(int iteration, int owner, int element)
    {
        int count = _heap.Containers.Count(_stack[iteration]);
        for (int index = (int)_stack[iteration + 1].Double; index < count; index++)
        {
            _heap.Budget.Spend(1);
            if (_heap.HasNamed(_stack[owner], _stack[iteration], index))
            {
                _stack[element] = _heap.Containers.Element(_stack[iteration], index);
                _stack[iteration + 1] = ScriptValue.Of(index + 1);
                return true;
            }
        }

        return false;
    }

    private Span<ScriptValue> SortAt(int local) => _stack.AsSpan(local, ComparedSorting.Locals);

    private int JumpOrPop(bool keeps, ReadOnlySpan<byte> code, int at)
    {
        if (keeps)
        {
            return ReadTarget(code, at);
        }

        _top--;
        return at + sizeof(int);
    }

    private static int ReadTarget(ReadOnlySpan<byte> code, int at) =>
        BinaryPrimitives.ReadInt32LittleEndian(code[at..]);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int ReadOperand(ReadOnlySpan<byte> code, ref int at) =>
        code[at] < 0x80 ? code[at++] : ScriptProgram.ReadNumber(code, ref at);

    /// <summary>The return address of a call, and the caller's first local.</summary>
    private readonly record struct Frame(int Return, int Base);
}
