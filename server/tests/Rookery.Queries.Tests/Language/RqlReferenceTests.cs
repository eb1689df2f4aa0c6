using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Language;

/// <summary>
/// Each keyword, operator and function of RavenDB 7's RQL is parsed, or refused with 501 and its name. None is reported
/// as a syntax error or read as the name of a field.
/// </summary>
public sealed class RqlReferenceTests
{
    // Clauses, keywords, operators, and the functions of conditions, orders, selections and includes.
    [Theory]
    [InlineData("from Users")]
    [InlineData("FROM Users AS u WHERE u.a = 1")]
    [InlineData("from @all_docs")]
    [InlineData("from @empty")]
    [InlineData("from index 'Users/ByName' as u")]
    [InlineData("declare function f(u) { return u; } from Users as u select f(u)")]
    [InlineData("from Users where a = 1")]
    [InlineData("from Users where a == 1")]
    [InlineData("from Users where a != 1 and b <> 2")]
    [InlineData("from Users where a < 1 or b <= 2 and c > 3 or d >= 4")]
    [InlineData("from Users where a between 1 and 2")]
    [InlineData("from Users where a in (1, 2) and b all in ('x')")]
    [InlineData("from Users where not (a = true or b = false) and c = null")]
    [InlineData("from Users where a = 1 and not exists(b)")]
    [InlineData("from Users where true and startsWith(a, 'x') and endsWith(a, 'y') and regex(a, 'z')")]
    [InlineData("from Users where search(a, 'x') or search(b, 'y z', and)")]
    [InlineData("from Users where lucene(a, 'x*') and exact(b = 'Y')")]
    [InlineData("from Users where boost(a = 'x', 2) and fuzzy(b = 'y', 0.5)")]
    [InlineData("from Users where proximity(search(a, 'x y'), 2) and intersect(b = 1, c = 2)")]
    [InlineData("from Users where moreLikeThis(id() = 'users/1', $options)")]
    [InlineData("from Users as u where id(u) = 'users/1' and u.@metadata.@id = 'x'")]
    [InlineData("from Users group by a, b.c[] select key(), count(), sum(d) as d, min(e), max(f), avg(g), average(h)")]
    [InlineData("from Users group by array(tags) order by count() as long desc select key() as tags")]
    [InlineData("from Users order by a, b as long, c as double desc, d as string asc, e as alphaNumeric descending")]
    [InlineData("from Users order by score(), random(), random('s'), id()")]
    [InlineData("from Users order by a nulls first, b desc nulls last")]
    [InlineData("from Users as u load u.a as b, u.c[] as d[] select b.name, d.name")]
    [InlineData("from Users filter a = 1 filter_limit 10")]
    [InlineData("from Users select a, b.c as d, 1 as one, 'x y', $p as p, id(), score() as s")]
    [InlineData("from Users select distinct a")]
    [InlineData("from Users as u select { a: u.a }")]
    [InlineData("from Users select facet(a), facet(b < 1, b >= 1), facet(c, sum(d))")]
    [InlineData("from Users select suggest(a, 'x', $options)")]
    [InlineData("from Users include a, b.c, timings(), explanations($o), highlight(d, 80, 2, $h)")]
    [InlineData("from Users as u update { u.a = 1 }")]
    [InlineData("from Users limit 10 offset 5")]
    [InlineData("from Users limit 5, 10")]
    [InlineData("from Users where a = $p /* b */ // c")]
    public void Supported_parts_of_RavenDBs_RQL_are_parsed(string query) => Assert.NotNull(RqlParser.Parse(query));

    [Theory]
    [InlineData("from Users where spatial.within(a, spatial.circle(1, 2, 3))", "spatial.within")]
    [InlineData("from Users where spatial.contains(a, spatial.wkt('x'))", "spatial.contains")]
    [InlineData("from Users where spatial.disjoint(a, spatial.wkt('x'))", "spatial.disjoint")]
    [InlineData("from Users where spatial.intersects(a, spatial.wkt('x'))", "spatial.intersects")]
    [InlineData("from Users where a = spatial.point(b, c)", "spatial")]
    [InlineData("from Users order by spatial.distance(a, spatial.point(1, 2))", "spatial.distance")]
    [InlineData("from Users order by custom(a, 'sorter')", "custom")]
    [InlineData("from Users where vector.search(a, $p)", "vector.search")]
    [InlineData("from Users where vector.search(embedding.text(a), $p)", "vector.search")]
    [InlineData("from Users where exact(vector.search(embedding.f32_i8(a), $p))", "vector.search")]
    [InlineData("from Users where a = embedding.text(b)", "embedding")]
    [InlineData("from Users where a = ai.task('x')", "ai")]
    [InlineData("from Users where when($p != null, a = $p)", "when")]
    [InlineData("from Users where a < now()", "now")]
    [InlineData("from Users where a < today()", "today")]
    [InlineData("from Users where a in (cmpxchg('k'))", "cmpxchg")]
    [InlineData("from Users as u select lastModified(u)", "lastModified")]
    [InlineData("from Users as u select getMetadata(u)", "getMetadata")]
    [InlineData("from Users as u select metadataFor(u)", "metadataFor")]
    [InlineData("from Users as u order by counter(u, 'likes')", "counter")]
    [InlineData("from Users as u select counters(u)", "counters")]
    [InlineData("from Users select counterRaw('likes')", "counterRaw")]
    [InlineData("from Users select cmpxchg('k')", "cmpxchg")]
    [InlineData("from Users select timeseries(from HeartRate last 1 day group by '1 h' select avg())", "timeseries")]
    [InlineData("from Users include timeseries('hr', null, null)", "timeseries")]
    [InlineData("declare timeseries t(u) { from u.Hr } from Users", "declare timeseries")]
    [InlineData("with { from Users } as u match (u)", "with")]
    [InlineData("with edges (a) { } as e match (u)", "with")]
    [InlineData("match (Users as u)-[a]->(b)", "match")]
    [InlineData("match (u)-recurse as r { [a]->(b) }", "match")]
    public void Unsupported_parts_of_RavenDBs_RQL_are_refused_by_name(string query, string name)
    {
        var error = Assert.Throws<QueryException>(() => RqlParser.Parse(query));
        Assert.Equal(QueryFault.NotSupported, error.Fault);
        Assert.Contains($"'{name}", error.Message, StringComparison.OrdinalIgnoreCase);
    }
}
