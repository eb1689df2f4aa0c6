using Rookery.Scripting.Functions;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// Compiles array methods with a callback to loops in place, so that the interpreter never calls itself.
/// </summary>
internal sealed class LoopEmitter(EmitContext context, ScriptEmitter script)
{
    /// <summary>Requires exactly one argument.</summary>
    public static void RequireOne(MemberExpression method, IReadOnlyList<Expression> arguments)
    {
        if (arguments.Count != 1)
        {
            throw TokenCursor.NotSupported($"'{method.Name}' with {arguments.Count} arguments", method.Position);
        }
    }

    /// <summary>
    /// Returns the callback of an argument: a lambda, or a call of a named function with as many arguments as it takes.
    /// </summary>
    /// <param name="argument">The argument.</param>
    /// <param name="parameters">Number of arguments before the index.</param>
    public LambdaExpression ToCallback(Expression argument, int parameters)
    {
        if (argument is NameExpression name)
        {
            if (context.Functions.TryGetValue(name.Name, out var declared))
            {
                parameters = Math.Max(parameters, declared.Function.Parameters.Count);
            }
            else if (name.Name is "parseInt")
            {
                parameters++;
            }

            string[] names = [.. Enumerable.Range(0, parameters).Select(static number => $"\0{number}")];
            return new LambdaExpression(
                names,
                new CallExpression(
                    name,
                    [.. names.Select(parameter => new NameExpression(parameter, name.Position))],
                    name.Position
                ),
                Body: null,
                name.Position
            )
            {
                MayResize = true,
            };
        }

        return argument as LambdaExpression
            ?? throw TokenCursor.NotSupported("an argument here that is no function", argument.Position);
    }

    /// <summary>
    /// Compiles a method that loops over its receiver. The methods differ only in their use of the callback's result.
    /// </summary>
    public void EmitLoop(MemberExpression method, LambdaExpression callback)
    {
        script.EmitTarget(method);
        context.Builder.Emit(Opcode.ToArray);
        int iteration = context.BeginIteration(method.Position);
        int? length = EmitLength(callback, iteration);
        bool collects = method.Name is "map" or "filter" or "flatMap";
        if (collects)
        {
            context.Builder.Emit(Opcode.NewArray);
        }

        JumpTarget next = context.NewTarget(),
            visit = context.NewTarget(),
            exhausted = context.NewTarget(),
            end = context.NewTarget();
        var removed = length is null ? exhausted : context.NewTarget();
        context.Builder.Mark(next);
        int element = context.NewLocal(callback.Position);
        EmitNext(iteration, length, element, removed, exhausted);
        context.Builder.Mark(visit);
        EmitCallback(callback, [element], iteration);
        switch (method.Name)
        {
            case "map":
                context.Builder.Emit(Opcode.Append);
                break;
            case "flatMap":
                context.Builder.Emit(Opcode.AppendFlat);
                break;
            case "forEach":
                context.Builder.Emit(Opcode.Pop);
                break;
            case "every":
                context.Builder.Emit(Opcode.Not);
                EmitExit(Opcode.PushFalse, next, end);
                break;
            case "some":
                EmitExit(Opcode.PushTrue, next, end);
                break;
            default:
                context.Builder.Emit(Opcode.JumpIfFalse, next);
                EmitElement(method.Name, iteration, element);
                if (!collects)
                {
                    context.Builder.Emit(Opcode.Jump, end);
                }

                break;
        }

        context.Builder.Emit(Opcode.Jump, next);
        if (length is not null)
        {
            context.Builder.Mark(removed);
            EmitRemoved(method.Name, iteration, element, next, visit);
        }

        context.Builder.Mark(exhausted);
        switch (method.Name)
        {
            case "some":
                context.Builder.Emit(Opcode.PushFalse);
                break;
            case "every":
                context.Builder.Emit(Opcode.PushTrue);
                break;
            case "findIndex":
                context.Builder.EmitNumber(-1);
                break;
            case "find" or "forEach":
                context.Builder.Emit(Opcode.PushUndefined);
                break;
        }

        context.Builder.Mark(end);
    }

    /// <summary>
    /// Emits code that keeps the array's length before the first call, and returns its local; null if the callback
    /// neither adds nor removes elements. Elements that a callback adds are not visited.
    /// </summary>
    private int? EmitLength(LambdaExpression callback, int iteration)
    {
        // If a declared function has the name of a built-in one, the parser takes its calls for calls of the built-in
        // one. MayResize may then be false although the declared function resizes the array.
        if (!callback.MayResize && !context.DeclaresBuiltIn)
        {
            return null;
        }

        int length = context.NewLocal(callback.Position);
        context.Builder.Emit(Opcode.LoadLocal, iteration);
        context.Builder.Emit(Opcode.GetMember, "length");
        context.Builder.Emit(Opcode.StoreLocal, length);
        return length;
    }

    /// <summary>
    /// Emits the code for the places whose elements the callback removed. As in JavaScript, <c>map</c> keeps them,
    /// <c>find</c> and <c>findIndex</c> call the callback with undefined, and the other methods skip them.
    /// </summary>
    private void EmitRemoved(string method, int iteration, int element, JumpTarget next, JumpTarget visit)
    {
        if (method is not ("map" or "find" or "findIndex"))
        {
            return;
        }

        context.Builder.Emit(Opcode.LoadLocal, iteration + 1);
        context.Builder.EmitNumber(1);
        context.Builder.Emit(Opcode.Add);
        context.Builder.Emit(Opcode.StoreLocal, iteration + 1);
        context.Builder.Emit(Opcode.PushUndefined);
        if (method is "map")
        {
            context.Builder.Emit(Opcode.Append);
            context.Builder.Emit(Opcode.Jump, next);
        }
        else
        {
            context.Builder.Emit(Opcode.StoreLocal, element);
            context.Builder.Emit(Opcode.Jump, visit);
        }
    }

    private void EmitNext(int iteration, int? length, int element, JumpTarget removed, JumpTarget exhausted)
    {
        if (length is { } max)
        {
            context.Builder.Emit(Opcode.LoadLocal, iteration + 1);
            context.Builder.Emit(Opcode.LoadLocal, max);
            context.Builder.Emit(Opcode.Less);
            context.Builder.Emit(Opcode.JumpIfFalse, exhausted);
        }

        context.Builder.EmitNext(iteration, element, removed);
    }

    private void EmitExit(Opcode result, JumpTarget next, JumpTarget end)
    {
        context.Builder.Emit(Opcode.JumpIfFalse, next);
        context.Builder.Emit(result);
        context.Builder.Emit(Opcode.Jump, end);
    }

    /// <summary>Emits the code for an element for which the callback is true.</summary>
    private void EmitElement(string method, int iteration, int element)
    {
        if (method is "findIndex")
        {
            EmitIndex(iteration);
            return;
        }

        context.Builder.Emit(Opcode.LoadLocal, element);
        if (method is "filter")
        {
            context.Builder.Emit(Opcode.Append);
        }
    }

    /// <summary>Compiles <c>reduce</c>. Without an initial value, it starts with the first element.</summary>
    public void EmitReduce(MemberExpression method, LambdaExpression callback, Expression? first)
    {
        JumpTarget next = context.NewTarget(),
            end = context.NewTarget();
        script.EmitTarget(method);
        context.Builder.Emit(Opcode.ToArray);
        int iteration = context.BeginIteration(method.Position);
        int? length = EmitLength(callback, iteration);
        int result = context.NewLocal(method.Position),
            element = context.NewLocal(method.Position);
        if (first is not null)
        {
            script.Emit(first);
            context.Builder.Emit(Opcode.StoreLocal, result);
        }
        else
        {
            context.Builder.Emit(Opcode.PushNull);
            context.Builder.Emit(Opcode.StoreLocal, result);
            context.Builder.EmitNext(iteration, result, end);
        }

        context.Builder.Mark(next);
        EmitNext(iteration, length, element, removed: end, exhausted: end);
        EmitCallback(callback, [result, element], iteration);
        context.Builder.Emit(Opcode.StoreLocal, result);
        context.Builder.Emit(Opcode.Jump, next);
        context.Builder.Mark(end);
        context.Builder.Emit(Opcode.LoadLocal, result);
    }

    /// <summary>Compiles <c>sort</c> with a comparison function.</summary>
    public void EmitSort(MemberExpression method, LambdaExpression callback)
    {
        script.EmitTarget(method);
        int sort = context.NewLocal(method.Position);
        for (int more = 1; more < ComparedSorting.Locals; more++)
        {
            context.NewLocal(method.Position);
        }

        int first = context.NewLocal(method.Position),
            second = context.NewLocal(method.Position);
        JumpTarget next = context.NewTarget(),
            end = context.NewTarget();
        context.Builder.Emit(Opcode.BeginSort, sort);
        context.Builder.Mark(next);
        context.Builder.Emit(Opcode.NextComparison, sort, first, second, end);
        EmitCallback(callback, [first, second], iteration: null);
        context.Builder.Emit(Opcode.AddComparison, sort);
        context.Builder.Emit(Opcode.Jump, next);
        context.Builder.Mark(end);
        context.Builder.Emit(Opcode.LoadLocal, sort);
    }

    /// <summary>Returns whether an argument is a function, so that <see cref="ToCallback"/> accepts it.</summary>
    public bool IsCallback(Expression argument) =>
        argument is LambdaExpression
        || (
            argument is NameExpression { Name: var name }
            && !context.Scope.TryFind(name, out _)
            && (context.Functions.ContainsKey(name) || FunctionCatalogue.TryFindFunction(name, out _))
        );

    /// <summary>Compiles <c>replace</c> or <c>replaceAll</c> with a function, which is called for each match.</summary>
    public void EmitReplace(MemberExpression method, Expression wanted, LambdaExpression callback)
    {
        int text = context.NewLocal(method.Position),
            call = context.NewLocal(method.Position),
            results = context.NewLocal(method.Position);
        JumpTarget next = context.NewTarget(),
            end = context.NewTarget();
        script.EmitTarget(method);
        context.Builder.Emit(Opcode.Duplicate);
        context.Builder.Emit(Opcode.StoreLocal, text);
        script.Emit(wanted);
        context.Builder.Emit(method.Name is "replaceAll" ? Opcode.PushTrue : Opcode.PushFalse);
        context.Builder.EmitInvoke(ScriptFunction.MatchesForCalls, 3);
        int iteration = context.BeginIteration(method.Position);
        context.Builder.Emit(Opcode.NewArray);
        context.Builder.Mark(next);
        context.Builder.EmitNext(iteration, call, end);
        int[] parameters = new int[callback.Parameters.Count];
        for (int index = 0; index < parameters.Length; index++)
        {
            parameters[index] = context.NewLocal(method.Position);
            context.Builder.Emit(Opcode.LoadLocal, call);
            context.Builder.EmitNumber(index);
            context.Builder.Emit(Opcode.GetElement);
            context.Builder.Emit(Opcode.StoreLocal, parameters[index]);
        }

        EmitCallback(callback, parameters, iteration: null);
        context.Builder.Emit(Opcode.Append);
        context.Builder.Emit(Opcode.Jump, next);
        context.Builder.Mark(end);
        context.Builder.Emit(Opcode.StoreLocal, results);
        context.Builder.Emit(Opcode.LoadLocal, text);
        context.Builder.Emit(Opcode.LoadLocal, iteration);
        context.Builder.Emit(Opcode.LoadLocal, results);
        context.Builder.EmitInvoke(ScriptFunction.ReplaceMatches, 3);
    }

    /// <summary>
    /// Emits the callback's body. Its parameters are locals: the given ones, then the index and the array of an
    /// iteration, and undefined.
    /// </summary>
    private void EmitCallback(LambdaExpression callback, ReadOnlySpan<int> parameters, int? iteration)
    {
        context.HasRepetition = true;
        var (outer, outerLoop, outerReturn) = (context.Scope, context.Loop, context.ReturnTarget);
        context.Scope = new Scope(outer, isFunction: true);
        context.Loop = null;
        for (int index = 0; index < callback.Parameters.Count; index++)
        {
            int local = context.Declare(callback.Parameters[index], isConstant: false, callback.Position);
            switch (index - parameters.Length)
            {
                case < 0:
                    context.Builder.Emit(Opcode.LoadLocal, parameters[index]);
                    break;
                case 0 when iteration is { } position:
                    EmitIndex(position);
                    break;
                case 1 when iteration is { } array:
                    context.Builder.Emit(Opcode.LoadLocal, array);
                    break;
                default:
                    context.Builder.Emit(Opcode.PushUndefined);
                    break;
            }

            context.Builder.Emit(Opcode.StoreLocal, local);
        }

        if (callback.Value is not null)
        {
            script.Emit(callback.Value);
        }
        else
        {
            context.ReturnTarget = context.NewTarget();
            // In JavaScript, parameters and the body's variables are in one scope.
            script.Statements.EmitCallbackBody(callback.Body!);
            context.Builder.Emit(Opcode.PushUndefined);
            context.Builder.Mark(context.ReturnTarget);
        }

        (context.Scope, context.Loop, context.ReturnTarget) = (outer, outerLoop, outerReturn);
    }

    /// <summary>Emits the index of an iteration's current element.</summary>
    private void EmitIndex(int iteration)
    {
        // The position is already that of the next element.
        context.Builder.Emit(Opcode.LoadLocal, iteration + 1);
        context.Builder.EmitNumber(1);
        context.Builder.Emit(Opcode.Subtract);
    }
}
