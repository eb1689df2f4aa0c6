using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.CSharp;

/// <summary>
/// Calls the C# functions that RavenDB's indexes may use. An argument that C# rejects makes the script fail.
/// </summary>
internal static class CSharpFunctions
{
    /// <summary>Calls a function of C#.</summary>
    public static ScriptValue InvokeAsCSharp(
        this ScriptContext context,
        FunctionFamily family,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var heap = context.Heap;
        // .NET strings that the function creates count as memory of the script until the function returns.
        long held = heap.Budget.HeldBytes;
        try
        {
            return family switch
            {
                FunctionFamily.Aggregate => context.Aggregate(function, heap.ToSequence(arguments[0])),
                FunctionFamily.Length => ScriptValue.OfInt(
                    arguments[0].IsText
                        ? heap.LengthOf(heap.Plain(arguments[0]))
                        : heap.Containers.Count(heap.ToSequence(arguments[0]))
                ),
                FunctionFamily.Operator => context.OperateAsCSharp(function, arguments[0], arguments[1]),
                FunctionFamily.Conversion => heap.Convert(function, arguments[0], arguments[1..]),
                FunctionFamily.Math => heap.CalculateAsCSharp(function, arguments),
                FunctionFamily.CSharpText => heap.InvokeOnCSharpText(function, arguments),
                FunctionFamily.Date => heap.InvokeOnDate(function, arguments),
                FunctionFamily.Sequence => context.InvokeOnSequence(function, arguments),
                _ => throw ScriptProgram.Broken(),
            };
        }
        catch (DivideByZeroException)
        {
            throw new ScriptFailure("the script divides by zero");
        }
        catch (OverflowException)
        {
            throw new ScriptFailure("a number or time span is larger than its type allows");
        }
        catch (Exception exception) when (exception is ArgumentException or FormatException)
        {
            throw new ScriptFailure("the script passes a value to a C# function that does not accept it");
        }
        finally
        {
            heap.Budget.ReleaseHeldTo(held);
        }
    }
}
