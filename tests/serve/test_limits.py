def test_x(web, saved, learned):
    from perceptrons import Perceptron
    m = web.create()
    ex=[({"a":1.0,"b":"x"},"u"),({"a":2.0},"v")]
    m.learn_all(ex)
    assert m.file()==saved(learned(Perceptron(),ex))
    assert m.predict({"a":1}) in "uv"
    print(m.log())
