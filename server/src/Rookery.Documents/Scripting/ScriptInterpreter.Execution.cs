using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Rookery.Documents.Scripting;

/// <content>The machine: instructions, the stack and calls.</content>
public sealed partial class ScriptInterpreter
{
    private const int LocalsPerStep = 8;

    private ScriptValue Execute(ReadOnlySpan<byte> code)
    {
        int frame = 0;
        int localsAt = 0;
        Enter(functions[0], ref localsAt);
        int at = functions[0].Start;
        while (true)
        {
            heap.Spend(1);
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
                    Push(constants[Operand(code, ref at)]);
                    break;
                case Opcode.LoadLocal:
                    Push(stack[localsAt + Operand(code, ref at)]);
                    break;
                case Opcode.StoreLocal:
                    stack[localsAt + Operand(code, ref at)] = Pop();
                    break;
                case Opcode.Pop:
                    top--;
                    break;
                case Opcode.Duplicate:
                    Push(stack[top - 1]);
                    break;
                case Opcode.DuplicateTwo:
                    Push(stack[top - 2]);
                    Push(stack[top - 2]);
                    break;
                case Opcode.Jump:
                    at = Target(code, at);
                    break;
                case Opcode.JumpIfFalse:
                    at = IsTrue(Pop()) ? at + sizeof(int) : Target(code, at);
                    break;
                case Opcode.JumpKeepingFalse:
                    at = Keep(!IsTrue(stack[top - 1]), code, at);
                    break;
                case Opcode.JumpKeepingTrue:
                    at = Keep(IsTrue(stack[top - 1]), code, at);
                    break;
                case Opcode.JumpKeepingValue:
                    at = Keep(!stack[top - 1].IsNothing, code, at);
                    break;
                case Opcode.BeginIteration:
                    int iteration = localsAt + Operand(code, ref at);
                    stack[iteration] = ToArray(Pop());
                    stack[iteration + 1] = ScriptValue.Of(0);
                    break;
                case Opcode.NextElement:
                    iteration = localsAt + Operand(code, ref at);
                    int element = localsAt + Operand(code, ref at);
                    at = TryNext(iteration, element) ? at + sizeof(int) : Target(code, at);
                    break;
                case Opcode.Call:
                    var function = functions[Operand(code, ref at)];
                    Operand(code, ref at);
                    if (frame == MostFrames)
                    {
                        throw new ScriptFailure($"the script calls its functions deeper than {MostFrames} levels");
                    }

                    frames[frame++] = new Frame(at, localsAt);
                    Enter(function, ref localsAt);
                    at = function.Start;
                    break;
                case Opcode.Invoke:
                    var number = (ScriptFunction)Operand(code, ref at);
                    int count = Operand(code, ref at);
                    var value = Invoke(number, stack.AsSpan(top - count, count));
                    top -= count;
                    Push(value);
                    break;
                case Opcode.Return:
                    value = Pop();
                    if (frame == 0)
                    {
                        return value;
                    }

                    top = localsAt;
                    (at, localsAt) = (frames[--frame].Return, frames[frame].Base);
                    Push(value);
                    break;
                case Opcode.NewArray:
                    Push(heap.NewArray());
                    break;
                case Opcode.NewObject:
                    Push(heap.NewObject());
                    break;
                case Opcode.GetMember:
                    stack[top - 1] = GetMember(stack[top - 1], constants[Operand(code, ref at)]);
                    break;
                case Opcode.SetMember:
                    value = Pop();
                    SetMember(stack[top - 1], constants[Operand(code, ref at)], value);
                    stack[top - 1] = value;
                    break;
                case Opcode.AddMember:
                    value = Pop();
                    heap.Set(stack[top - 1], constants[Operand(code, ref at)], value);
                    break;
                case Opcode.DeleteMember:
                    stack[top - 1] = Delete(stack[top - 1], constants[Operand(code, ref at)]);
                    break;
                default:
                    Operate(opcode);
                    break;
            }
        }
    }

    /// <summary>Instructions without operands.</summary>
    private void Operate(Opcode opcode)
    {
        switch (opcode)
        {
            case Opcode.Not:
                stack[top - 1] = ScriptValue.Of(!IsTrue(stack[top - 1]));
                return;
            case Opcode.Negate:
                stack[top - 1] = ScriptValue.Of(-ToNumber(stack[top - 1]));
                return;
            case Opcode.ToNumber:
                stack[top - 1] = ScriptValue.Of(ToNumber(stack[top - 1]));
                return;
            case Opcode.TypeOf:
                stack[top - 1] = heap.NewText(TypeOf(stack[top - 1]));
                return;
            case Opcode.ToArray:
                stack[top - 1] = ToArray(stack[top - 1]);
                return;
        }

        var right = Pop();
        switch (opcode)
        {
            case Opcode.Append:
                heap.Append(stack[top - 1], right);
                return;
            case Opcode.AppendAll:
                AppendAll(stack[top - 1], ToArray(right));
                return;
            case Opcode.AppendFlat when right.Kind == ValueKind.Array:
                AppendAll(stack[top - 1], right);
                return;
            case Opcode.AppendFlat:
                heap.Append(stack[top - 1], right);
                return;
            case Opcode.AddAll:
                AddAll(stack[top - 1], right);
                return;
            case Opcode.AddElement:
                var key = ToText(Pop());
                heap.Set(stack[top - 1], key, right);
                return;
            case Opcode.GetElement:
                stack[top - 1] = GetElement(stack[top - 1], right);
                return;
            case Opcode.SetElement:
                key = Pop();
                SetElement(stack[top - 1], key, right);
                stack[top - 1] = right;
                return;
            case Opcode.DeleteElement:
                stack[top - 1] = Delete(stack[top - 1], ToText(right));
                return;
            default:
                stack[top - 1] = Calculate(opcode, stack[top - 1], right);
                return;
        }
    }

    /// <summary>Begins a function whose arguments are on the stack: its other locals are undefined.</summary>
    private void Enter(FunctionEntry function, ref int localsAt)
    {
        localsAt = top - function.Parameters;
        int end = localsAt + function.Locals;
        EnsureStack(end);
        heap.Spend((end - top) / LocalsPerStep);
        stack.AsSpan(top, end - top).Clear();
        top = end;
    }

    private void Push(ScriptValue value)
    {
        if (top == stack.Length)
        {
            EnsureStack(top + 1);
        }

        stack[top++] = value;
    }

    private void EnsureStack(int length)
    {
        if (length > MostStack)
        {
            throw new ScriptFailure("the script keeps too many values at once");
        }

        if (length > stack.Length)
        {
            Array.Resize(ref stack, Math.Max(length, 2 * stack.Length));
        }
    }

    private ScriptValue Pop() => stack[--top];

    private bool TryNext(int iteration, int element)
    {
        var position = (int)stack[iteration + 1].Double;
        if (position >= heap.Count(stack[iteration]))
        {
            return false;
        }

        stack[element] = heap.Element(stack[iteration], position);
        stack[iteration + 1] = ScriptValue.Of(position + 1);
        return true;
    }

    private int Keep(bool keeps, ReadOnlySpan<byte> code, int at)
    {
        if (keeps)
        {
            return Target(code, at);
        }

        top--;
        return at + sizeof(int);
    }

    private static int Target(ReadOnlySpan<byte> code, int at) => BinaryPrimitives.ReadInt32LittleEndian(code[at..]);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Operand(ReadOnlySpan<byte> code, ref int at) => code[at] < 0x80 ? code[at++] : ScriptProgram.ReadNumber(code, ref at);
}
