using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>Functions of JavaScript for objects.</summary>
internal static class ObjectFunctions
{
    public static ScriptValue MembersOf(this ScriptHeap heap, ScriptFunction function, ScriptValue value)
    {
        value = value.IsText ? heap.Split(heap.Plain(value), heap.NewText(default)) : value;
        var array = heap.Containers.NewArray();
        int count = value.IsContainer ? heap.Containers.Count(value) : 0;
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            var name =
                value.Kind == ValueKind.Array ? heap.ToText(ScriptValue.Of(index)) : heap.Containers.Name(value, index);
            var member =
                value.Kind == ValueKind.Array
                    ? heap.Containers.Element(value, index)
                    : heap.Containers.Member(value, index);
            if (function == ScriptFunction.Entries)
            {
                var entry = heap.Containers.NewArray();
                heap.Containers.Append(entry, name);
                heap.Containers.Append(entry, member);
                member = entry;
            }

            heap.Containers.Append(array, function == ScriptFunction.Keys ? name : member);
        }

        return array;
    }
}
