using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>Compiles calls of functions and methods.</summary>
internal sealed class CallEmitter(EmitContext context, ScriptEmitter script)
{
    /// <summary>Compiles a call.</summary>
    /// <exception cref="ScriptException">Scripts cannot make this call.</exception>
    public void EmitCall(CallExpression call)
    {
        switch (call.Callee)
        {
            case NameExpression name when !context.Scope.TryFind(name.Name, out _):
                EmitNamed(name.Name, name.Position, call.Arguments);
                break;
            case NameExpression name:
                throw TokenCursor.NotSupported($"the variable '{name.Name}' as a function", name.Position);
            case MemberExpression { Target: NameExpression owner } member
                when FunctionCatalogue.HasOnlyFunctions(owner.Name)
                    && !context.Functions.ContainsKey(owner.Name)
                    && !context.Scope.TryFind(owner.Name, out _):
                EmitNamed($"{owner.Name}.{member.Name}", owner.Position, call.Arguments);
                break;
            case MemberExpression member:
                EmitMethod(member, call.Arguments);
                break;
            default:
                throw TokenCursor.NotSupported("calls of anything but a name", call.Position);
        }
    }

    private void EmitNamed(string name, int position, IReadOnlyList<Expression> arguments)
    {
        if (context.Functions.TryGetValue(name, out var declared))
        {
            EmitArguments(arguments);
            int parameters = declared.Function.Parameters.Count;
            for (int missing = arguments.Count; missing < parameters; missing++)
            {
                context.Builder.Emit(Opcode.PushUndefined);
            }

            for (int surplus = parameters; surplus < arguments.Count; surplus++)
            {
                context.Builder.Emit(Opcode.Pop);
            }

            if (context.HasArguments)
            {
                context.EmitArguments();
                parameters++;
            }

            context.Builder.Emit(Opcode.Call, declared.Number, parameters);
        }
        else if (FunctionCatalogue.TryFindFunction(name, out var entry))
        {
            RequireCount(name, entry, arguments, position);
            if (entry.Function == ScriptFunction.Now)
            {
                RequireTime("'Date.now'", position);
            }

            if (entry.Function == ScriptFunction.Metadata)
            {
                context.OpenMetadata();
            }

            if (entry.Function == ScriptFunction.Assign)
            {
                context.RefuseMetadataChange(arguments[0]);
                // A source may have a member @metadata.
                context.OpenMetadata();
            }

            EmitInvoke(entry.Function, arguments, position);
        }
        else if (context.Use == ScriptUse.Indexing && name is "noTracking.load" && arguments.Count == 2)
        {
            // Loaded documents are tracked nevertheless, so the index is fresher than the text asks for.
            EmitInvoke(ScriptFunction.Load, arguments, position);
        }
        else if (
            (context.Use == ScriptUse.Indexing || (context.Use == ScriptUse.Reading && name is "counterNamesFor"))
            && MetadataLists.TryTranslate(name, arguments, position) is { } translated
        )
        {
            script.Emit(translated);
        }
        else if (
            context.Use == ScriptUse.Indexing
            && CreatedFields.TryTranslate(name, arguments, position) is { } created
        )
        {
            script.Emit(created);
        }
        else
        {
            throw TokenCursor.NotSupported($"the function '{name}'", position);
        }
    }

    private static void RequireCount(
        string name,
        FunctionCatalogue.Entry entry,
        IReadOnlyList<Expression> arguments,
        int position
    )
    {
        if (arguments.Count < entry.Least || arguments.Count > entry.Most)
        {
            throw TokenCursor.NotSupported(
                $"'{name}' with {(arguments.Count == 1 ? "one argument" : $"{arguments.Count} arguments")}",
                position
            );
        }
    }

    /// <summary>Compiles a call of a built-in function.</summary>
    /// <exception cref="ScriptException">This kind of script may not call the function.</exception>
    public void EmitInvoke(ScriptFunction function, IReadOnlyList<Expression> arguments, int position)
    {
        if (function == ScriptFunction.Counter && context.Use == ScriptUse.Patch)
        {
            function = ScriptFunction.ReadCounter;
        }

        if (function == ScriptFunction.Load)
        {
            if (context.Use == ScriptUse.Patch)
            {
                context.ReachesDocuments = true;
                context.Builder.RequireSecondVersion();
            }

            if (context.Use == ScriptUse.Indexing && arguments.Count != 2)
            {
                throw TokenCursor.NotSupported("'load' without the name of a collection", position);
            }

            if (arguments.Count == 2)
            {
                context.LoadedCollections.Add(
                    arguments[1] is TextLiteral collection
                        ? collection.Text
                        : throw TokenCursor.NotSupported("a collection that is no text", arguments[1].Position)
                );
            }

            script.Emit(arguments[0]);
            context.Builder.Emit(Opcode.Invoke, (int)function, second: 1);
            return;
        }

        if (function is >= ScriptFunction.Counter and <= ScriptFunction.IncludeCompareExchange)
        {
            if (context.Use != ScriptUse.Reading)
            {
                throw TokenCursor.NotSupported(
                    $"'{FunctionNames.Of(function)}' outside of the selection of a query",
                    position
                );
            }

            context.AnswerFunctions.Add(function);
        }

        if (function is >= ScriptFunction.Put and <= ScriptFunction.ReadCounter)
        {
            if (context.Use != ScriptUse.Patch)
            {
                throw TokenCursor.NotSupported($"'{FunctionNames.Of(function)}' outside of patches", position);
            }

            context.ReachesDocuments = true;
            context.Writes += function == ScriptFunction.ReadCounter ? 0 : 1;
            // The document may be the patched one, whose metadata a script may have changed.
            context.OpenMetadata();
        }

        EmitArguments(arguments);
        context.Builder.EmitInvoke(function, arguments.Count);
    }

    /// <summary>Compiles <c>new Date(a)</c> and <c>new RegExp(a)</c>, and the empty array and object.</summary>
    public void EmitNew(NewExpression creation)
    {
        var (name, arguments) = (creation.Name, creation.Arguments);
        if (context.Functions.ContainsKey(name) || context.Scope.TryFind(name, out _))
        {
            throw TokenCursor.NotSupported($"'new' with a function of the script, '{name}'", creation.Position);
        }

        switch (name)
        {
            case "Date" when arguments.Count <= 7:
                if (arguments.Count == 0)
                {
                    RequireTime("'new Date()'", creation.Position);
                }

                EmitInvoke(ScriptFunction.NewMoment, arguments, creation.Position);
                break;
            case "RegExp" when arguments.Count is 1 or 2:
                EmitInvoke(ScriptFunction.NewPattern, arguments, creation.Position);
                break;
            case "Array" when arguments.Count == 0:
                context.Builder.Emit(Opcode.NewArray);
                break;
            case "Object" when arguments.Count == 0:
                context.Builder.Emit(Opcode.NewObject);
                break;
            default:
                throw TokenCursor.NotSupported(
                    name is "Date" or "RegExp" or "Array" or "Object"
                        ? $"'new {name}' with {arguments.Count} arguments"
                        : $"'new {name}'",
                    creation.Position
                );
        }
    }

    // Only a patch has a time that is the same on all members of a cluster, also when it is replayed.
    private void RequireTime(string construct, int position)
    {
        if (context.Use != ScriptUse.Patch)
        {
            throw TokenCursor.NotSupported(
                $"{construct} outside of patches, because only a patch has the time of its command",
                position
            );
        }
    }

    private void EmitArguments(IReadOnlyList<Expression> arguments)
    {
        foreach (var argument in arguments)
        {
            script.Emit(argument);
        }
    }

    private void EmitMethod(MemberExpression method, IReadOnlyList<Expression> arguments)
    {
        switch (method.Name)
        {
            case "map" or "filter" or "some" or "every" or "find" or "findIndex" or "forEach" or "flatMap":
                LoopEmitter.RequireOne(method, arguments);
                script.Loops.EmitLoop(method, script.Loops.ToCallback(arguments[0], parameters: 1));
                break;
            case "reduce" when arguments.Count is 1 or 2:
                script.Loops.EmitReduce(
                    method,
                    script.Loops.ToCallback(arguments[0], parameters: 2),
                    arguments.Count == 2 ? arguments[1] : null
                );
                break;
            case "sort" when arguments.Count > 0:
                LoopEmitter.RequireOne(method, arguments);
                context.RefuseMetadataChange(method.Target);
                script.Loops.EmitSort(method, script.Loops.ToCallback(arguments[0], parameters: 2));
                break;
            case "replace" or "replaceAll" when arguments.Count == 2 && script.Loops.IsCallback(arguments[1]):
                script.Loops.EmitReplace(method, arguments[0], script.Loops.ToCallback(arguments[1], parameters: 1));
                break;
            default:
                if (!FunctionCatalogue.TryFindMethod(method.Name, out var entry))
                {
                    throw TokenCursor.NotSupported($"the method '{method.Name}'", method.Position);
                }

                RequireCount(method.Name, entry, arguments, method.Position);
                if (
                    entry.Function
                    is ScriptFunction.Push
                        or ScriptFunction.Pop
                        or ScriptFunction.Shift
                        or ScriptFunction.Unshift
                        or ScriptFunction.Splice
                        or ScriptFunction.Reverse
                        or ScriptFunction.Sort
                        or ScriptFunction.Fill
                )
                {
                    context.RefuseMetadataChange(method.Target);
                }

                if (arguments.Count > entry.FirstMost)
                {
                    context.Builder.RequireSecondVersion();
                }

                script.EmitTarget(method);
                if (entry.Variant >= 0)
                {
                    context.Builder.EmitNumber(entry.Variant);
                }

                EmitArguments(arguments);
                context.Builder.EmitInvoke(entry.Function, arguments.Count + (entry.Variant < 0 ? 1 : 2));
                break;
        }
    }
}
